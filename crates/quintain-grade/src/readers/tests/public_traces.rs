//! The public, human-labelled traces next to the repository. Nothing of them is copied.

use std::fs::File;
use std::path::Path;

use super::*;

#[test]
fn public_traces_are_read_with_the_calls_behind_their_router() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/livemcpbench");
    let Ok(file) = File::open(folder.join("traces.jsonl")) else {
        eprintln!("SKIPPED: no public traces in {}", folder.display());
        return;
    };
    let tools = std::fs::read_to_string(folder.join("tools.json")).unwrap();
    let servers = surface_file::servers(&tools).unwrap();
    let listed: usize =
        servers.iter().filter_map(|server| server.tools_at(0)).map(<[_]>::len).sum();
    assert!(servers.len() > 60 && listed > 500, "{} servers, {listed} tools", servers.len());
    let options =
        ReadOptions { router: Some(Router::default()), servers, ..ReadOptions::default() };
    let mut traces = Vec::new();
    let mut sink = |record: Record| {
        match record {
            Record::Trace(trace, _) => traces.push(*trace),
            Record::Bad(bad) => panic!("{bad}"),
        }
        ControlFlow::Continue(())
    };
    let reader = read(BufReader::new(file), "traces.jsonl", None, &options, &mut sink).unwrap();
    assert_eq!(reader.meta().id, "openai-chat");
    assert_eq!(traces.len(), 50);
    for trace in &traces {
        assert!(trace.id.is_some() && trace.request().is_some() && trace.answer().is_some());
        for call in trace.calls() {
            assert_ne!(call.name, "execute-tool");
            assert!(call.args.object().is_some());
            let Some(result) = call.result() else { panic!("{call:?}") };
            // All but a few results are printed objects, which are decoded.
            assert!(result.is_object() || !call.text().starts_with("meta="), "{result}");
        }
    }
    let calls = traces.iter().flat_map(Trace::calls);
    let (routed, own): (Vec<&Call>, Vec<&Call>) =
        calls.partition(|call| call.server.as_deref() != Some("router"));
    assert_eq!((routed.len(), own.len()), (267, 144));
    assert!(routed.iter().any(|call| call.is_error()));
}
