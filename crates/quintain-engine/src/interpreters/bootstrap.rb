# Answers requests, one JSON object per line, until its input ends.
require 'json'

requests = STDIN.dup
answers = STDOUT.dup
requests.set_encoding('UTF-8')
answers.set_encoding('UTF-8')
# What the user's code reads and prints must not get into our lines.
STDIN.reopen(File::NULL)
STDOUT.reopen(STDERR)
loaded = {}

requests.each_line do |line|
  request = JSON.parse(line)
  begin
    path = request['path']
    if path.nil?
      TOPLEVEL_BINDING.eval(request['text'], '<inline>')
    elsif loaded[path] != request['text']
      folder = File.dirname(path)
      $LOAD_PATH.unshift(folder) unless $LOAD_PATH.include?(folder)
      load path
      # Methods of another file may have taken the place of those of this one.
      loaded = { path => request['text'] }
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
