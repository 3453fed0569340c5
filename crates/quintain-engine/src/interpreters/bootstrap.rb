# Reads requests from stdin, one JSON object per line, and writes one answer per line.
require 'json'

requests = STDIN.dup
answers = STDOUT.dup
requests.set_encoding('UTF-8')
answers.set_encoding('UTF-8')
# User code must not read our requests or print into our answers.
STDIN.reopen(File::NULL)
STDOUT.reopen(STDERR)
loaded = nil

# Remove the methods of the previous code, so that new code cannot call them by accident.
forget = lambda do |place|
  Object.private_instance_methods(false).each do |name|
    from = Object.instance_method(name).source_location
    Object.send(:remove_method, name) if from && from.first == place
  end
end

requests.each_line do |line|
  request = JSON.parse(line)
  path = request['path']
  begin
    if path.nil? || path != loaded
      forget.call(loaded) if loaded
      forget.call('<inline>')
      loaded = nil
    end
    if path.nil?
      TOPLEVEL_BINDING.eval(request['text'], '<inline>')
    elsif loaded.nil?
      folder = File.dirname(path)
      $LOAD_PATH.delete(folder)
      $LOAD_PATH.unshift(folder)
      loaded = path
      load path
    end
    owner, name = request['function'].split('.', 2)
    value = if name
              Object.const_get(owner).public_send(name, *request['arguments'])
            else
              TOPLEVEL_BINDING.receiver.send(owner, *request['arguments'])
            end
    answer = JSON.generate({ 'value' => value })
  rescue Exception => e
    raise if e.is_a?(SignalException)
    trace = (e.backtrace || []).reject { |frame| frame.start_with?('-e:') }
    message = "#{e.class}: #{e.message}".encode('UTF-8', invalid: :replace, undef: :replace)
    answer = JSON.generate({ 'error' => message, 'trace' => trace.first(50).join("\n") })
  end
  answers.puts(answer)
  answers.flush
end
