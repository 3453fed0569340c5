def call_api(prompt, options, _context)
  { output: prompt + options['config']['end'] }
end
