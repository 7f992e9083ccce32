import { APPLY_TYPE } from "../api.ts";
import { type Topic, topic } from "../step.ts";
import { card, listed, machine, plain, rich } from "./kinds.ts";

const FIRST = { spec: { text: "one", count: 1 } };
const first = plain.apply("a", FIRST);
export const APPLY: Topic = topic("apply", {
  creates: [first, plain.get("a")],
  "creates in the cluster": [card.apply("a", { spec: { text: "x" } }), card.get("a")],
  "changing nothing": [first, first, plain.get("a")],
  changes: [first, plain.apply("a", { spec: { text: "two", count: 1 } }), plain.get("a")],
  "removes what it no longer names": [first, plain.apply("a", { spec: { text: "one" } }), plain.apply("a", {})],
  "adds what it did not name": [first, plain.apply("a", { spec: { ...FIRST.spec, on: true }, data: { k: "v" } })],
  "of an empty object": [plain.apply("a", {}), plain.apply("a", { spec: {} }), plain.apply("a", {})],
  conflicts: [
    first,
    plain.apply("a", { spec: { text: "two" } }, { by: "two" }),
    plain.apply("a", { spec: { text: "two", count: 2, on: true } }, { by: "two" }),
    plain.get("a"),
  ],
  forced: [
    first,
    plain.apply("a", { spec: { text: "two" } }, { by: "two", query: "force=true" }),
    plain.apply("a", FIRST),
    plain.apply("a", FIRST, { query: "force=true" }),
  ],
  shared: [
    first,
    plain.apply("a", { spec: { text: "one" } }, { by: "two" }),
    plain.apply("a", { spec: { count: 1 } }),
    plain.apply("a", {}, { by: "two" }),
  ],
  "shared, then changed": [
    first,
    plain.apply("a", { spec: { text: "one" } }, { by: "two" }),
    plain.apply("a", { spec: { text: "new", count: 1 } }),
    plain.apply("a", { spec: { text: "new", count: 1 } }, { query: "force=true" }),
    plain.apply("a", { spec: { text: "one" } }, { by: "two" }),
  ],
  "three managers": [
    first,
    plain.apply("a", { spec: { text: "one" } }, { by: "two" }),
    plain.apply("a", { spec: { text: "three" } }, { by: "three" }),
    plain.apply("a", { spec: { text: "three" } }, { by: "three", query: "force=true" }),
  ],
  "after a create": [
    plain.make("a", FIRST, { query: "fieldManager=maker" }),
    plain.apply("a", { spec: { text: "one", on: true } }),
    plain.apply("a", { spec: { text: "two" } }),
    plain.apply("a", { spec: { text: "two" } }, { query: "force=true" }),
    plain.apply("a", { spec: {} }),
  ],
  "after a create by the same manager": [
    plain.make("a", FIRST, { query: "fieldManager=one" }),
    plain.apply("a", { spec: { text: "two" } }),
    plain.apply("a", { spec: { text: "two" } }, { query: "force=true" }),
    plain.apply("a", { spec: {} }),
  ],
  "before updates": [
    plain.apply("a", FIRST, { as: "made" }),
    plain.change("made", { spec: { text: "updated" } }, { query: "fieldManager=up", as: "second" }),
    plain.apply("a", FIRST),
    plain.apply("a", FIRST, { query: "force=true" }),
    plain.merge("a", { spec: { count: null } }, { query: "fieldManager=up" }),
    plain.apply("a", FIRST),
    plain.get("a"),
  ],
  "before updates by the same manager": [
    plain.apply("a", FIRST, { as: "made" }),
    plain.change("made", { spec: { text: "updated" } }, { query: "fieldManager=one" }),
    plain.apply("a", FIRST),
    plain.apply("a", FIRST, { query: "force=true" }),
  ],
  "after managedFields were removed": [
    plain.apply("a", FIRST, { as: "made" }),
    plain.change("made", { metadata: { managedFields: [{}] } }),
    plain.apply("a", { spec: { text: "two" } }),
    plain.apply("a", { spec: { text: "three" } }, { by: "two" }),
  ],
  "without a manager": [
    plain.patch("a", APPLY_TYPE, { body: plain.of("a", FIRST) }),
    plain.patch("a", APPLY_TYPE, { body: plain.of("a", FIRST), query: "fieldManager=" }),
  ],
  "by a malformed manager": [
    plain.apply("a", FIRST, { by: "m".repeat(129) }),
    plain.apply("a", FIRST, { by: "a%01b" }),
    plain.apply("a", FIRST, { by: "m".repeat(128) }),
  ],
  "with a malformed force": [
    plain.apply("a", FIRST, { query: "force=maybe" }),
    plain.apply("b", FIRST, { query: "force=" }),
  ],
  "with managedFields": [
    plain.apply("a", { ...FIRST, metadata: { managedFields: [] } }),
    plain.apply("b", { ...FIRST, metadata: { managedFields: [{ manager: "x" }] } }),
    plain.apply("c", { ...FIRST, metadata: { managedFields: null } }),
  ],
  "with a resourceVersion": [
    plain.apply("a", { ...FIRST, metadata: { resourceVersion: "1" } }),
    plain.apply("a", FIRST, { as: "made" }),
    plain.apply("a", { spec: { text: "2" }, metadata: { resourceVersion: "$(made.metadata.resourceVersion)" } }),
    plain.apply("a", { spec: { text: "3" }, metadata: { resourceVersion: "$(made.metadata.resourceVersion)" } }),
  ],
  "with a uid": [
    plain.apply("a", { ...FIRST, metadata: { uid: "7d4a3c70-1111-4222-8333-abcdefabcdef" } }),
    plain.apply("a", FIRST, { as: "made" }),
    plain.apply("a", { spec: { text: "2" }, metadata: { uid: "$(made.metadata.uid)" } }),
    plain.apply("a", { spec: { text: "2" }, metadata: { uid: "7d4a3c70-1111-4222-8333-abcdefabcdef" } }),
  ],
  "with server's metadata": [
    plain.apply("a", {
      ...FIRST,
      metadata: { creationTimestamp: "2001-01-01T00:00:00Z", generation: 5, selfLink: "x" },
    }),
    plain.apply("b", { ...FIRST, metadata: { creationTimestamp: null } }),
    plain.apply("c", { ...FIRST, metadata: { deletionTimestamp: "2001-01-01T00:00:00Z" } }),
  ],
  "of another name": [first, plain.patch("a", APPLY_TYPE, { query: "fieldManager=one", body: plain.of("b", FIRST) })],
  "without a name": [
    plain.patch("a", APPLY_TYPE, {
      query: "fieldManager=one",
      body: { apiVersion: "oracle.dev/v1", kind: "Plain", metadata: {}, ...FIRST },
    }),
    plain.patch("b", APPLY_TYPE, {
      query: "fieldManager=one",
      body: { apiVersion: "oracle.dev/v1", kind: "Plain", ...FIRST },
    }),
  ],
  "generating a name": [
    plain.patch("a", APPLY_TYPE, {
      query: "fieldManager=one",
      body: { apiVersion: "oracle.dev/v1", kind: "Plain", metadata: { generateName: "g-" }, ...FIRST },
    }),
  ],
  "of another namespace": [plain.apply("a", { ...FIRST, metadata: { namespace: "other" } })],
  "of another type": [
    plain.patch("a", APPLY_TYPE, { query: "fieldManager=one", body: card.of("a", FIRST) }),
    plain.patch("a", APPLY_TYPE, {
      query: "fieldManager=one",
      body: { ...plain.of("a"), apiVersion: "oracle.dev/v9" },
    }),
    plain.patch("a", APPLY_TYPE, { query: "fieldManager=one", body: { metadata: { name: "a" }, ...FIRST } }),
    plain.patch("a", APPLY_TYPE, {
      query: "fieldManager=one",
      body: { kind: "Plain", metadata: { name: "a" }, ...FIRST },
    }),
    plain.patch("a", APPLY_TYPE, {
      query: "fieldManager=one",
      body: { apiVersion: "oracle.dev/v1", metadata: { name: "a" } },
    }),
  ],
  "of an invalid name": [plain.apply("A_b", FIRST)],
  "of unknown fields": [
    plain.apply("a", { spec: { text: "a", unknown: 1 } }),
    plain.apply("a", { spec: { text: "a", unknown: 1 } }, { query: "fieldValidation=Strict" }),
    plain.apply("a", { spec: { text: "a", unknown: 1 } }, { query: "fieldValidation=Ignore" }),
    plain.apply("a", { spec: { text: "a", nested: { unknown: {} } } }, { query: "fieldValidation=Warn" }),
    plain.apply("a", { spec: { text: "a" }, junk: 1 }, { query: "fieldValidation=Warn" }),
    plain.apply("a", { spec: { text: "a" }, metadata: { junk: 1 } }, { query: "fieldValidation=Warn" }),
    plain.get("a"),
  ],
  "of wrong types": [
    plain.apply("a", { spec: { text: 1 } }),
    plain.apply("a", { spec: { tags: "x" } }),
    plain.apply("a", { spec: [] }),
    plain.apply("a", { metadata: { labels: { a: 1 } } }),
    plain.apply("a", { metadata: { labels: "x" } }),
    plain.apply("a", { spec: null }),
    plain.apply("b", { spec: { text: null, nested: { a: null } } }),
  ],
  dry: [
    plain.apply("a", FIRST, { query: "dryRun=All" }),
    plain.get("a"),
    first,
    plain.apply("a", { spec: { text: "two" } }, { query: "dryRun=All" }),
    plain.apply("a", { spec: { text: "two" } }, { by: "two", query: "dryRun=All" }),
    plain.get("a"),
  ],
  "of labels and finalizers": [
    plain.apply("a", { metadata: { labels: { a: "1", b: "2" }, finalizers: ["example.dev/x"] } }),
    plain.apply("a", { metadata: { labels: { b: "3" }, finalizers: ["example.dev/y"] } }, { by: "two" }),
    plain.apply("a", { metadata: { labels: { c: "3" }, finalizers: ["example.dev/y"] } }, { by: "two" }),
    plain.apply("a", { metadata: { labels: { a: "1" } } }),
    plain.apply("a", {}, { by: "two" }),
  ],
  "during deletion of what nobody owned": [
    plain.make("a"),
    plain.delete("a", { propagationPolicy: "Foreground" }),
    plain.apply("a", { spec: {} }),
    plain.merge("a", { spec: { text: "two" } }, { query: "fieldManager=two" }),
  ],
  "removes metadata that an update began": [
    plain.make("a", {
      metadata: { labels: { l: "x" }, annotations: { l: "x" }, finalizers: ["example.dev/x"] },
      spec: { text: "a", labels: { l: "x" } },
    }),
    plain.apply(
      "a",
      {
        metadata: { labels: { l: "y" }, annotations: { l: "y" }, finalizers: ["example.dev/x"] },
        spec: { labels: { l: "y" } },
      },
      { query: "force=true" },
    ),
    plain.apply("a", { spec: { labels: { l: "y" } } }),
    plain.get("a"),
  ],
  "of owners": [
    plain.apply("a", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u1" }] } }),
    plain.apply(
      "a",
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "m", uid: "u2" }] } },
      { by: "two" },
    ),
    plain.apply(
      "a",
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "x", uid: "u1" }] } },
      { by: "two" },
    ),
    plain.apply("a", {}),
  ],
  "of lists that are atomic": [
    plain.apply("a", { spec: { tags: ["a", "b"] } }),
    plain.apply("a", { spec: { tags: ["b"] } }, { by: "two" }),
    plain.apply("a", { spec: { tags: ["b"] } }, { by: "two", query: "force=true" }),
    plain.apply("a", { spec: { tags: ["b"] } }),
    plain.apply("a", { spec: { steps: [{ name: "x" }], tags: [] } }),
  ],
  "of maps": [
    plain.apply("a", { spec: { labels: { a: "1" } } }),
    plain.apply("a", { spec: { labels: { b: "2" } } }, { by: "two" }),
    plain.apply("a", { spec: { labels: {} } }),
    plain.apply("a", { spec: {} }, { by: "two" }),
  ],
  "with defaults": [
    rich.apply("a", { spec: {} }),
    rich.apply("a", { spec: { color: "red", parts: [{ name: "p" }] } }),
    rich.apply("a", { spec: { color: "blue" } }, { by: "two" }),
    rich.apply("a", { spec: { color: "green", settings: { mode: "slow" } } }),
    rich.apply("a", { spec: {} }),
  ],
  "that does not validate": [
    rich.apply("a", { spec: { color: "pink" } }),
    rich.apply("a", { spec: { color: "red" } }),
    rich.apply("a", { spec: { color: "pink", code: "x" } }),
    rich.get("a"),
  ],
  "of fields that are half free": [rich.apply("a", { spec: { half: { any: 1, closed: { only: "x", unknown: 1 } } } })],
  "of what is pruned, then of nothing": [
    rich.apply("a", { spec: { half: { closed: { unknown: 1 } } } }),
    rich.merge("a", {}),
  ],
  "of free fields": [
    rich.apply("a", { spec: { free: { a: 1, l: [1, { b: 2 }] }, anything: [1] } }),
    rich.apply("a", { spec: { free: { l: [3] }, anything: { x: 1 } } }, { by: "two" }),
    rich.apply("a", { spec: { free: { a: 2 } } }),
  ],
  "during deletion": [
    plain.apply("a", { ...FIRST, metadata: { finalizers: ["example.dev/x"] } }),
    plain.delete("a"),
    plain.apply("a", { spec: { text: "two" }, metadata: { finalizers: ["example.dev/x"] } }),
    plain.apply("a", { spec: { text: "two" }, metadata: { finalizers: ["example.dev/x", "example.dev/y"] } }),
    plain.apply("a", { spec: { text: "two" } }),
    plain.get("a"),
  ],
  "of status": [
    machine.apply("m", { spec: { replicas: 1 }, status: { phase: "Running" } }),
    machine.apply("m", { status: { phase: "Running", replicas: 1 } }, { sub: "status", by: "controller" }),
    machine.apply("m", { spec: { replicas: 2 }, status: { phase: "Failed" } }, { sub: "status", by: "controller" }),
    machine.apply("m", { spec: { replicas: 3 } }),
    machine.apply("m", { status: {} }, { sub: "status", by: "controller" }),
    machine.get("m"),
  ],
  "of conditions": [
    machine.apply("m", { spec: { replicas: 1 } }),
    machine.apply("m", { status: { conditions: [{ type: "Ready", status: "True" }] } }, { sub: "status", by: "x" }),
    machine.apply("m", { status: { conditions: [{ type: "Good", status: "True" }] } }, { sub: "status", by: "y" }),
    machine.apply("m", { status: { conditions: [{ type: "Ready", status: "False" }] } }, { sub: "status", by: "y" }),
    machine.apply("m", { status: { conditions: [] } }, { sub: "status", by: "x" }),
  ],
  "of a status that is not there": [
    machine.apply("m", { status: { phase: "Running" } }, { sub: "status" }),
    plain.apply("a", {}, { sub: "status" }),
  ],
  "of what is gone": [first, plain.delete("a"), plain.apply("a", FIRST)],
  "at the path of all": [plain.patch("", APPLY_TYPE, { query: "fieldManager=one", body: plain.of("a") })],
  "of a list with duplicate keys": [listed.apply("l", { spec: { people: [{ name: "x" }, { name: "x" }] } })],
});
