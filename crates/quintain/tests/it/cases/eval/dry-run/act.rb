File.write("acted", "x")
