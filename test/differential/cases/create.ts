import { type Topic, topic } from "../step.ts";
import { card, plain, ruled } from "./kinds.ts";

const OBJECT = { spec: { text: "hello", count: 1 } };
const UID = "7d4a3c70-1111-4222-8333-abcdefabcdef";

export const CREATE: Topic = topic("create", {
  "an object": [plain.make("a", OBJECT), plain.get("a"), plain.list()],
  "of the cluster": [card.make("a", { spec: { text: "hello" } }), card.get("a")],
  "with labels, annotations and owners": [
    plain.make("a", {
      metadata: {
        labels: { a: "b", "example.dev/c": "" },
        annotations: { note: "x\ny", "example.dev/z": "" },
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: UID }],
        finalizers: ["example.dev/keep"],
      },
    }),
    plain.get("a"),
  ],
  "with empty metadata members": [
    plain.make("a", { metadata: { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] } }),
  ],
  "with null members": [
    plain.make("a", { metadata: { labels: null, annotations: null }, spec: { text: null }, data: null }),
  ],
  "that exists": [plain.make("a", OBJECT), plain.make("a", OBJECT)],
  "of the cluster that exists": [card.make("a", { spec: { text: "1" } }), card.make("a", { spec: { text: "2" } })],
  "with an empty spec": [plain.make("a", { spec: {} }), plain.make("b")],
  "with server's metadata given": [
    plain.make("a", {
      metadata: {
        uid: UID,
        creationTimestamp: "2001-01-01T00:00:00Z",
        generation: 7,
        selfLink: "/x",
        deletionTimestamp: "2001-01-01T00:00:00Z",
        deletionGracePeriodSeconds: 5,
      },
    }),
  ],
  "with a resourceVersion": [plain.make("a", { metadata: { resourceVersion: "1" } })],
  "with resourceVersion 0": [plain.make("a", { metadata: { resourceVersion: "0" } })],
  "with an empty resourceVersion": [plain.make("a", { metadata: { resourceVersion: "" } })],
  "with a malformed resourceVersion": [plain.make("a", { metadata: { resourceVersion: "abc" } })],
  "with managedFields": [
    plain.make("a", {
      ...OBJECT,
      metadata: {
        managedFields: [
          {
            manager: "m",
            operation: "Update",
            apiVersion: "oracle.dev/v1",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:spec": { "f:text": {} } },
          },
        ],
      },
    }),
  ],
  "with managedFields of a malformed entry": [
    plain.make("a", {
      metadata: { managedFields: [{ manager: "m", operation: "Nonsense", apiVersion: "oracle.dev/v1" }] },
    }),
  ],
  "generating a name": [
    plain.create({ ...plain.of("", OBJECT), metadata: { generateName: "gen-" } }, { as: "made" }),
    plain.get("$(made.metadata.name)"),
  ],
  "generating a name after a long prefix": [
    plain.create({ ...plain.of(""), metadata: { generateName: `${"p".repeat(70)}-` } }, { as: "made" }),
  ],
  "generating a name, both given": [plain.make("named", { metadata: { generateName: "gen-" } })],
  "generating an invalid name": [plain.create({ ...plain.of(""), metadata: { generateName: "Gen_" } })],
  "without a name": [plain.create({ apiVersion: "oracle.dev/v1", kind: "Plain", metadata: {} })],
  "without metadata": [plain.create({ apiVersion: "oracle.dev/v1", kind: "Plain" })],
  "with an invalid name": [
    plain.make("A_b"),
    plain.make("-a"),
    plain.make("a..b"),
    plain.make("a/b"),
    plain.make("."),
    plain.make(".."),
    plain.make("a%b"),
    plain.make("x".repeat(254)),
  ],
  "with a dotted name": [plain.make("a.b-c.9"), plain.get("a.b-c.9")],
  "with a name of 253": [plain.make("x".repeat(253))],
  "with an empty namespace, and the same": [
    plain.make("a", { metadata: { namespace: "" } }),
    plain.make("b", { metadata: { namespace: "ns" } }),
  ],
  "with another namespace": [plain.make("a", { metadata: { namespace: "other" } })],
  "of the cluster with a namespace": [card.make("a", { metadata: { namespace: "ns" }, spec: { text: "x" } })],
  "namespaced, at the path of all namespaces": [
    plain.make("a", {}, { namespace: "" }),
    plain.make("a", { metadata: { namespace: "ns" } }, { namespace: "" }),
  ],
  "of the cluster, at the path of a namespace": [
    { send: "POST /apis/oracle.dev/v1/namespaces/ns/cards", body: card.of("a", { spec: { text: "x" } }) },
  ],
  "in an invalid namespace": [plain.make("a", {}, { namespace: "Bad_NS" })],
  "of another kind": [plain.create({ ...plain.of("a"), kind: "Card" })],
  "of another version": [plain.create({ ...plain.of("a"), apiVersion: "oracle.dev/v2" })],
  "of another group": [plain.create({ ...plain.of("a"), apiVersion: "other.dev/v1" })],
  "of a malformed apiVersion": [plain.create({ ...plain.of("a"), apiVersion: "a/b/c" })],
  "without kind": [plain.create({ apiVersion: "oracle.dev/v1", metadata: { name: "a" } })],
  "without apiVersion": [plain.create({ kind: "Plain", metadata: { name: "a" } })],
  "without either": [plain.create({ metadata: { name: "a" } })],
  "with an empty kind": [plain.create({ ...plain.of("a"), kind: "" })],
  "of a kind that is not there": [{ send: "POST /apis/oracle.dev/v1/namespaces/ns/nothings", body: plain.of("a") }],
  "at the path of an object": [{ send: `POST ${plain.path("a")}`, body: plain.of("a") }],
  "with invalid labels": [
    plain.make("a", { metadata: { labels: { "bad key!": "v" } } }),
    plain.make("a", { metadata: { labels: { k: "bad value!" } } }),
    plain.make("a", { metadata: { labels: { ["k".repeat(64)]: "v", "a/b/c": "v", "/x": "v", "X_/y": "v", "": "v" } } }),
    plain.make("a", { metadata: { labels: { k: "v".repeat(64) } } }),
  ],
  "with labels that are no texts": [
    plain.make("a", { metadata: { labels: { k: 1 } } }),
    plain.make("a", { metadata: { labels: ["k"] } }),
    plain.make("a", { metadata: { labels: { k: null } } }),
    plain.make("a", { metadata: { labels: "k" } }),
  ],
  "with invalid annotations": [
    plain.make("a", { metadata: { annotations: { "bad key!": "v" } } }),
    plain.make("a", { metadata: { annotations: { "Example.dev/Upper": "v" } } }),
    plain.make("a", { metadata: { annotations: { k: true } } }),
  ],
  "with annotations that are too large": [
    plain.raw(`POST ${plain.path()}`, {
      type: "application/json",
      fill: {
        head: '{"apiVersion":"oracle.dev/v1","kind":"Plain","metadata":{"name":"a","annotations":{"k":"',
        piece: "0123456789abcdef",
        times: 16_385,
        tail: '"}}}',
      },
    }),
  ],
  "with invalid finalizers": [
    plain.make("a", { metadata: { finalizers: ["nodomain"] } }),
    plain.make("b", { metadata: { finalizers: ["bad domain/x"] } }),
    plain.make("c", { metadata: { finalizers: [""] } }),
    plain.make("d", { metadata: { finalizers: ["example.dev/a", "example.dev/a"] } }),
    plain.make("e", { metadata: { finalizers: ["orphan", "foregroundDeletion"] } }),
    plain.make("f", { metadata: { finalizers: ["orphan"] } }),
    plain.make("g", { metadata: { finalizers: [1] } }),
  ],
  "with invalid owners": [
    plain.make("a", { metadata: { ownerReferences: [{}] } }),
    plain.make("b", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n" }] } }),
    plain.make("c", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "n", uid: UID }] } }),
    plain.make("d", {
      metadata: {
        ownerReferences: [
          { apiVersion: "v1", kind: "Node", name: "n", uid: UID, controller: true },
          { apiVersion: "v1", kind: "Node", name: "m", uid: UID, controller: true },
        ],
      },
    }),
    plain.make("e", { metadata: { ownerReferences: [{ apiVersion: "a/b/c", kind: "Node", name: "n", uid: UID }] } }),
    plain.make("f", {
      metadata: {
        ownerReferences: [
          { apiVersion: "v1", kind: "Node", name: "n", uid: UID, blockOwnerDeletion: false, unknown: 1 },
          { apiVersion: "v1", kind: "Node", name: "n", uid: UID },
        ],
      },
    }),
  ],
  "with metadata of wrong types": [
    plain.create({ ...plain.of("a"), metadata: "x" }),
    plain.create({ ...plain.of("a"), metadata: { name: 1 } }),
    plain.create({ ...plain.of("a"), metadata: { name: "a", creationTimestamp: "yesterday" } }),
    plain.create({ ...plain.of("a"), metadata: { name: "a", generation: "1" } }),
    plain.create({ ...plain.of("a"), metadata: { name: "a", finalizers: "x" } }),
    plain.create({ ...plain.of("a"), metadata: { name: "a", ownerReferences: {} } }),
    plain.create({ ...plain.of("a"), kind: 1 }),
    plain.create({ ...plain.of("a"), apiVersion: {} }),
  ],
  "with unknown metadata": [
    plain.make("a", { metadata: { unknown: 1, clusterName: "c" } }),
    plain.make("b", { metadata: { unknown: 1 } }, { query: "fieldValidation=Strict" }),
  ],
  dry: [
    plain.make("a", OBJECT, { query: "dryRun=All" }),
    plain.get("a"),
    plain.create({ ...plain.of(""), metadata: { generateName: "gen-" } }, { query: "dryRun=All" }),
    plain.list(),
    plain.make("a", OBJECT),
    plain.make("a", OBJECT, { query: "dryRun=All" }),
  ],
  "dry, malformed": [
    plain.make("a", OBJECT, { query: "dryRun=Some" }),
    plain.make("a", OBJECT, { query: "dryRun=" }),
    plain.make("a", OBJECT, { query: "dryRun=All&dryRun=All" }),
    plain.make("a", OBJECT, { query: "dryRun=All&dryRun=No" }),
  ],
  "by a manager": [
    plain.make("a", OBJECT, { query: "fieldManager=me" }),
    plain.make("b", OBJECT, { headers: { "user-agent": "kubectl/v1.30 (linux)" } }),
    plain.make("c", OBJECT, { headers: { "user-agent": "" } }),
    plain.make("d", OBJECT, { headers: { "user-agent": "a b/c" } }),
    plain.make("e", OBJECT, { query: `fieldManager=${"m".repeat(128)}` }),
    plain.make("f", OBJECT, { headers: { "user-agent": `${"u".repeat(200)}/1` } }),
  ],
  "by a malformed manager": [
    plain.make("a", OBJECT, { query: `fieldManager=${"m".repeat(129)}` }),
    plain.make("a", OBJECT, { query: "fieldManager=a%01b" }),
    plain.make("a", OBJECT, { query: "fieldManager=%C3%A9" }),
  ],
  "with unknown options": [plain.make("a", OBJECT, { query: "nothing=1&pretty=true&timeout=5s" })],
  "with a malformed timeout": [
    plain.make("a", OBJECT, { query: "timeout=soon" }),
    plain.make("b", OBJECT, { query: "timeout=0s" }),
  ],
  "against a rule on the name": [ruled.make("a", { spec: {} }), ruled.make("r", { spec: {} })],
  "again after it is gone": [plain.make("a", OBJECT), plain.delete("a"), plain.make("a", OBJECT), plain.get("a")],
});
