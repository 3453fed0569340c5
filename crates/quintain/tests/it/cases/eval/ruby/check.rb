def get_assert(output, _context)
  { pass: output == 'hello!', score: 1, reason: 'seen' }
end

def broken(_output, _context)
  raise ArgumentError, 'broken on purpose'
end
