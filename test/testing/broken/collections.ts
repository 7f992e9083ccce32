import {
  type Ask,
  type Breakage,
  forget,
  isDeleteCollection,
  isObject,
  type JsonObject,
  passOverMalformed,
  rewritten,
  sent,
  type Told,
  withMetadata,
} from "./breakage.ts";

const writes = true;
const CHOSEN = "conformance.virtual-workspaces.dev/chosen";
const PART = "conformance.virtual-workspaces.dev/part";
const NOTE = "example.com/note";

const metadataOf = (document: JsonObject): JsonObject => (document["metadata"] ?? {}) as JsonObject;
const textsOf = (document: JsonObject, field: string): JsonObject => (metadataOf(document)[field] ?? {}) as JsonObject;
const isPart = ({ query }: Ask): boolean => query.get("labelSelector")?.includes(PART) === true;
const isOfField = ({ query }: Ask): boolean => query.get("fieldSelector")?.startsWith("spec.color") === true;

/** Sends MODIFIED for an object that enters, as if it had always been selected. */
const entersUnseen = (event: Told): readonly Told[] =>
  event.type === "ADDED" && String(textsOf(event.object, "annotations")[NOTE]).startsWith("outside")
    ? [{ ...event, type: "MODIFIED" }]
    : [event];

const same = (event: Told): readonly Told[] => [event];

/** Faults of transitions and of deletecollection. */
export const collectionBreakages: readonly Breakage[] = [
  {
    name: "sends MODIFIED when an object enters a label selector",
    fails: ["T5.1"],
    writes,
    events: (ask) => (isPart(ask) ? entersUnseen : same),
  },
  {
    name: "sends MODIFIED when an object enters a field selector",
    fails: ["T5.2"],
    writes,
    events: (ask) => (isOfField(ask) ? entersUnseen : same),
  },
  {
    name: "sends the new state of an object that leaves a selector",
    fails: ["T5.3"],
    writes,
    events: (ask) => (event) => {
      if (!isPart(ask) || event.type !== "DELETED") return [event];
      const { [PART]: _part, ...labels } = textsOf(event.object, "labels");
      return [{ ...event, object: withMetadata(event.object, { labels }) }];
    },
  },
  {
    name: "sends the deletion of an object that left while a finalizer held it",
    fails: ["T5.4"],
    writes,
    events: (ask) => (event) => {
      const { finalizers } = metadataOf(event.object);
      return isPart(ask) && event.type === "DELETED" && finalizers !== undefined ? [event, event] : [event];
    },
  },
  {
    name: "sends the deletion of an object that left during its grace period",
    fails: ["T5.7"],
    writes,
    events: (ask) => (event) => {
      const { deletionGracePeriodSeconds: period = 0 } = metadataOf(event.object);
      return isPart(ask) && event.type === "DELETED" && period !== 0 ? [event, event] : [event];
    },
  },
  {
    name: "omits objects that left while the client was disconnected",
    fails: ["T5.5"],
    writes,
    events: (ask) => {
      let first = isPart(ask);
      return (event) => {
        const lost = first && event.type === "DELETED";
        first = false;
        return lost ? [] : [event];
      };
    },
  },
  {
    name: "lists nothing for a label selector",
    fails: ["T5.6"],
    writes,
    reply: (reply, ask) => (isPart(ask) ? rewritten(reply, (it) => ({ ...it, items: [] })) : reply),
  },
  {
    name: "deletes more than the selector selects",
    fails: ["T10.1"],
    writes,
    ask: (ask) => {
      const [run = ""] = (ask.query.get("labelSelector") ?? "").split(",");
      if (isDeleteCollection(ask) && !ask.query.has("dryRun")) ask.query.set("labelSelector", run);
      return undefined;
    },
  },
  {
    name: "ignores the field selector of a deletecollection",
    fails: ["T10.2"],
    writes,
    ask: (ask) =>
      isDeleteCollection(ask) && ask.query.get("fieldSelector")?.startsWith("metadata.name") === true
        ? forget(ask, "fieldSelector")
        : undefined,
  },
  {
    name: "omits the deleted objects from its answer",
    fails: ["T10.3"],
    writes,
    reply: (reply, ask) => (isDeleteCollection(ask) ? rewritten(reply, (it) => ({ ...it, items: [] })) : reply),
  },
  {
    name: "sends DELETED twice after a deletecollection",
    fails: ["T10.4"],
    writes,
    events: () => (event) =>
      event.type === "DELETED" && CHOSEN in textsOf(event.object, "labels") ? [event, event] : [event],
  },
  {
    name: "omits the deletionTimestamp after a deletecollection",
    fails: ["T10.5"],
    writes,
    reply: (reply, ask) =>
      isObject(ask)
        ? rewritten(reply, (it) =>
            CHOSEN in textsOf(it, "labels") ? withMetadata(it, { deletionTimestamp: undefined }) : it,
          )
        : reply,
  },
  {
    name: "executes a dry run of a deletecollection",
    fails: ["T10.6"],
    writes,
    ask: (ask) => (isDeleteCollection(ask) ? forget(ask, "dryRun") : undefined),
  },
  {
    name: "accepts any limit of a deletecollection",
    fails: ["T10.7"],
    writes,
    ask: (ask) => (isDeleteCollection(ask) ? forget(ask, "limit") : undefined),
  },
  {
    name: "ignores dry runs and malformed parts of a selector",
    fails: ["T10.7"],
    writes,
    ask: (ask) => {
      if (!isDeleteCollection(ask) || !ask.query.get("labelSelector")?.endsWith("(")) return undefined;
      passOverMalformed(ask);
      return forget(ask, "dryRun");
    },
  },
  {
    name: "ignores preconditions of a deletecollection",
    fails: ["T10.8"],
    writes,
    body: sent((it, ask) =>
      isDeleteCollection(ask) && "preconditions" in it ? { ...it, preconditions: undefined } : it,
    ),
  },
];
