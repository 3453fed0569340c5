def get_var(name, prompt, vars):
    return {"output": f"{name} from python for {vars['name']}"}
