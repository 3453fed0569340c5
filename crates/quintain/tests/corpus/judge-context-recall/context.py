def get_transform(output, context):
    return output + "[[1 1. a [Attributed]~0a2. b [Attributed~5d]]"
