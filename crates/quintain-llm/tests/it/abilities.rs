//! Embeddings, moderation, classification and similarity.

use quintain_llm::ModelError;
use serde_json::{Value, json};

use crate::server::{Recorded, Reply, Server};
use crate::web::{handle, models, spec};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn embed(id: &str, of: &[&str], reply: Value) -> (Vec<Vec<f64>>, Recorded) {
    let server = Server::start([Reply::ok(reply)]).await;
    let answer = handle(&spec(id, &server.url)).embed(&texts(of)).await.expect(id);
    (answer.vectors, server.only())
}

#[tokio::test]
async fn embeddings_come_in_the_order_of_the_texts() {
    let reply = json!({"data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}], "usage": {"prompt_tokens": 2, "total_tokens": 2}});
    let (vectors, sent) =
        embed("openai:embedding:text-embedding-3-small", &["a", "b"], reply).await;
    assert_eq!(vectors, [[1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(
        (sent.path.as_str(), sent.body),
        ("/embeddings", json!({"model": "text-embedding-3-small", "input": ["a", "b"]}))
    );

    let (vectors, sent) =
        embed("ollama:embeddings:nomic", &["a"], json!({"embeddings": [[1.0]]})).await;
    assert_eq!((vectors, sent.path.as_str()), (vec![vec![1.0]], "/api/embed"));

    let (vectors, sent) =
        embed("google:embedding:e", &["a"], json!({"embedding": {"values": [1.0]}})).await;
    assert_eq!((vectors, sent.path.as_str()), (vec![vec![1.0]], "/v1beta/models/e:embedContent"));
    let many = json!({"embeddings": [{"values": [1.0]}, {"values": [2.0]}]});
    let (vectors, sent) = embed("google:embedding:e", &["a", "b"], many).await;
    assert_eq!((vectors.len(), sent.path.as_str()), (2, "/v1beta/models/e:batchEmbedContents"));

    let (vectors, sent) =
        embed("huggingface:feature-extraction:e", &["a"], json!([[1.0, 2.0]])).await;
    assert_eq!((vectors, sent.body["inputs"].clone()), (vec![vec![1.0, 2.0]], json!("a")));
}

#[tokio::test]
async fn a_missing_embedding_is_an_error() {
    let server =
        Server::start([Reply::ok(json!({"data": [{"index": 0, "embedding": [1.0]}]}))]).await;
    let error = handle(&spec("openai:embedding:e", &server.url))
        .embed(&texts(&["a", "b"]))
        .await
        .unwrap_err();
    assert!(matches!(error, ModelError::Empty(_)), "{error:?}");
}

#[tokio::test]
async fn moderation_lists_its_categories() {
    let reply = json!({"results": [{"flagged": true, "categories": {"violence": true, "hate": false}, "category_scores": {"violence": 0.9, "hate": 0.1}}]});
    let server = Server::start([Reply::ok(reply)]).await;
    let answer = handle(&spec("openai:moderation:omni-moderation-latest", &server.url))
        .moderate("text")
        .await
        .unwrap();
    assert!(answer.flagged);
    assert_eq!(
        (answer.categories[0].name.as_str(), answer.categories[0].score),
        ("violence", Some(0.9))
    );
    let sent = server.only();
    assert_eq!(
        (sent.path.as_str(), sent.body),
        ("/moderations", json!({"model": "omni-moderation-latest", "input": "text"}))
    );
}

#[tokio::test]
async fn classifiers_give_labels_with_scores() {
    let reply = json!([[{"label": "SAFE", "score": 0.1}, {"label": "INJECTION", "score": 0.9}]]);
    let server = Server::start([Reply::ok(reply), Reply::ok(json!({"unexpected": 1}))]).await;
    let handle = handle(&spec("huggingface:text-classification:some/model", &server.url));
    let answer = handle.classify("text").await.unwrap();
    assert_eq!(answer.scores[0], ("INJECTION".to_owned(), 0.9));
    assert_eq!(answer.score("SAFE"), Some(0.1));
    assert_eq!(server.only().body, json!({"inputs": "text", "parameters": {}}));
    let error = handle.classify("text").await.unwrap_err();
    assert!(error.to_string().contains("expected labels with scores"), "{error}");
}

#[tokio::test]
async fn sentences_are_compared() {
    let server = Server::start([Reply::ok(json!([0.75]))]).await;
    let handle = handle(&spec("huggingface:sentence-similarity:some/model", &server.url));
    let answer = handle.compare("a", &texts(&["b"])).await.unwrap();
    assert_eq!(answer.scores, [0.75]);
    assert_eq!(server.only().body["inputs"], json!({"source_sentence": "a", "sentences": ["b"]}));
}

#[tokio::test]
async fn what_a_model_cannot_do_is_named() {
    let handle = models().model(&spec("openai:embedding:e", "http://127.0.0.1:9")).unwrap();
    let error = handle.chat(&quintain_llm::ChatRequest::text("Hi")).await.unwrap_err();
    assert_eq!(error.to_string(), "`e` cannot answer prompts; it can compute embeddings");
}
