import {
  type Ask,
  type Breakage,
  forget,
  isMerge,
  type JsonObject,
  refusal,
  rewritten,
  sent,
  withMetadata,
} from "./breakage.ts";

const writes = true;

const metadataOf = (document: JsonObject): JsonObject => (document["metadata"] ?? {}) as JsonObject;
const annotationsOf = (document: JsonObject): JsonObject => (metadataOf(document)["annotations"] ?? {}) as JsonObject;
const isCreate = ({ method }: Ask): boolean => method === "POST";
const isUpdate = ({ method, path }: Ask): boolean => method === "PUT" && !path.endsWith("/status");
const isDelete = ({ method, path }: Ask): boolean => method === "DELETE" && !path.endsWith("/notes");

/** Fields that a client set although only the server may. */
let claimed: unknown;
let status: unknown;

/** Faults of verbs that write. */
export const writeBreakages: readonly Breakage[] = [
  {
    name: "returns more fields from a create than it stores",
    fails: ["V1"],
    writes,
    reply: (reply, ask) =>
      isCreate(ask) && reply.status === 201 ? rewritten(reply, (it) => withMetadata(it, { selfLink: "/x" })) : reply,
  },
  {
    name: "answers Conflict instead of AlreadyExists",
    fails: ["V2"],
    writes,
    reply: (reply, ask) => (isCreate(ask) && reply.status === 409 ? refusal(409, "Conflict") : reply),
  },
  {
    name: "always generates the same name",
    fails: ["V3"],
    writes,
    body: sent((it, ask) => {
      const { generateName } = metadataOf(it);
      return isCreate(ask) && generateName !== undefined ? withMetadata(it, { name: `${String(generateName)}x` }) : it;
    }),
  },
  {
    name: "accepts a client's uid",
    fails: ["V4"],
    writes,
    body: sent((it, ask) => {
      claimed = isCreate(ask) ? metadataOf(it)["uid"] : undefined;
      return it;
    }),
    reply: (reply, ask) => {
      const uid = claimed;
      claimed = undefined;
      return isCreate(ask) && uid !== undefined ? rewritten(reply, (it) => withMetadata(it, { uid })) : reply;
    },
  },
  {
    name: "accepts malformed annotations",
    fails: ["V5"],
    writes,
    body: sent((it) => ("not a key" in annotationsOf(it) ? withMetadata(it, { annotations: {} }) : it)),
  },
  {
    name: "changes the creationTimestamp in an update",
    fails: ["V6"],
    writes,
    reply: (reply, ask) =>
      isUpdate(ask) && reply.status === 200
        ? rewritten(reply, (it) => withMetadata(it, { creationTimestamp: "2001-01-01T00:00:00Z" }))
        : reply,
  },
  {
    name: "ignores the version of an update",
    fails: ["V7"],
    writes,
    body: sent(async (it, ask) => {
      if (!isUpdate(ask) || metadataOf(it)["resourceVersion"] === undefined) return it;
      const { resourceVersion } = metadataOf(await ask.aside(ask.path));
      return resourceVersion === undefined ? it : withMetadata(it, { resourceVersion });
    }),
  },
  {
    name: "writes an update that changes nothing",
    fails: ["V8"],
    writes,
    body: sent((it, ask) =>
      isMerge(ask) && Object.keys(it).length === 0 ? { metadata: { annotations: { "broken.dev/touched": "1" } } } : it,
    ),
  },
  {
    name: "accepts an update of a missing object",
    fails: ["V9"],
    writes,
    reply: (reply, ask) => (isUpdate(ask) && reply.status === 404 ? { ...reply, status: 200 } : reply),
  },
  {
    name: "ignores null in a merge patch",
    fails: ["V10"],
    writes,
    body: sent((it, ask) => {
      if (!isMerge(ask) || metadataOf(it)["annotations"] === undefined) return it;
      const kept = Object.entries(annotationsOf(it)).filter(([, value]) => value !== null);
      return withMetadata(it, { annotations: Object.fromEntries(kept) });
    }),
  },
  {
    name: "ignores the tests of a JSON patch",
    fails: ["V11"],
    writes,
    body: sent((it) => (Array.isArray(it) ? it.filter(({ op }: { op: string }) => op !== "test") : it)),
  },
  {
    name: "ignores the version of a merge patch",
    fails: ["V12"],
    writes,
    body: sent((it, ask) => (isMerge(ask) ? withMetadata(it, { resourceVersion: undefined }) : it)),
  },
  {
    name: "names another object as deleted",
    fails: ["V13"],
    writes,
    reply: (reply, ask) =>
      isDelete(ask) && reply.status === 200
        ? rewritten(reply, (it) => (it["kind"] === "Status" ? { ...it, details: { name: "other" } } : it))
        : reply,
  },
  {
    name: "ignores preconditions of a delete",
    fails: ["V14"],
    writes,
    body: sent((it, ask) => (isDelete(ask) ? { ...it, preconditions: undefined } : it)),
  },
  {
    name: "omits the deletionTimestamp from a delete",
    fails: ["V15", "V25"],
    writes,
    reply: (reply, ask) =>
      isDelete(ask) && reply.status === 200
        ? rewritten(reply, (it) => withMetadata(it, { deletionTimestamp: undefined }))
        : reply,
  },
  {
    name: "ignores a shorter grace period",
    fails: ["V25"],
    writes,
    body: sent((it) => (it["gracePeriodSeconds"] === 1 ? { ...it, gracePeriodSeconds: 29 } : it)),
  },
  {
    name: "rejects the propagation policy Orphan",
    fails: ["V16"],
    writes,
    body: sent((it) => (it["propagationPolicy"] === "Orphan" ? { ...it, propagationPolicy: "Sideways" } : it)),
  },
  {
    name: "accepts an object of another kind",
    fails: ["V17"],
    writes,
    body: sent((it) => (it["kind"] === "Nothing" ? { ...it, kind: "Note" } : it)),
  },
  {
    name: "treats any patch as a merge patch",
    fails: ["V18"],
    writes,
    ask: ({ method, headers }) => {
      if (method === "PATCH" && headers["content-type"] === "application/json")
        headers["content-type"] = "application/merge-patch+json";
      return undefined;
    },
  },
  {
    name: "accepts bodies of any size",
    fails: ["V19"],
    writes,
    body: (body) => (body.length > 3_000_000 ? Buffer.from(body.toString("utf8").trim()) : body),
  },
  {
    name: "executes a dry run of an update",
    fails: ["V20"],
    writes,
    ask: (ask) => (isUpdate(ask) ? forget(ask, "dryRun") : undefined),
  },
  {
    name: "warns instead of rejecting",
    fails: ["V21"],
    writes,
    ask: ({ query }) => {
      if (query.get("fieldValidation") === "Strict") query.set("fieldValidation", "Warn");
      return undefined;
    },
  },
  {
    name: "treats any dryRun as All",
    fails: ["V22"],
    writes,
    ask: ({ query }) => {
      if (query.has("dryRun")) query.set("dryRun", "All");
      return undefined;
    },
  },
  {
    name: "accepts status in writes of the object",
    fails: ["V23"],
    writes,
    body: sent((it, ask) => {
      status = isUpdate(ask) ? it["status"] : undefined;
      return it;
    }),
    reply: (reply, ask) => {
      const own = status;
      status = undefined;
      return isUpdate(ask) && own !== undefined ? rewritten(reply, (it) => ({ ...it, status: own })) : reply;
    },
  },
  {
    name: "treats an update of /status as one of the object",
    fails: ["V24"],
    writes,
    ask: (ask) => {
      if (ask.method === "PUT") ask.path = ask.path.replace(/\/status$/, "");
      return undefined;
    },
  },
];
