echo '{"pass": true, "score": 0.45}'
