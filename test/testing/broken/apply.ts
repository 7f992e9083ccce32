import {
  type Ask,
  type Breakage,
  forget,
  isApply,
  type JsonObject,
  rewritten,
  sent,
  withMetadata,
} from "./breakage.ts";

const writes = true;
const A = "example.com/a";
const B = "example.com/b";

const metadataOf = (document: JsonObject): JsonObject => (document["metadata"] ?? {}) as JsonObject;
const annotationsOf = (document: JsonObject): JsonObject => (metadataOf(document)["annotations"] ?? {}) as JsonObject;
const managedOf = (document: JsonObject): readonly JsonObject[] =>
  (metadataOf(document)["managedFields"] ?? []) as readonly JsonObject[];
const isBy = (ask: Ask, manager: string): boolean => isApply(ask) && ask.query.get("fieldManager") === manager;
let applies = 0;

/** Faults of server-side apply. */
export const applyBreakages: readonly Breakage[] = [
  {
    name: "writes an apply that changes nothing",
    fails: ["T9.1"],
    writes,
    body: sent((it, ask) => {
      if (!isBy(ask, "conformance-one") || it["metadata"] === undefined) return it;
      return withMetadata(it, { annotations: { ...annotationsOf(it), "broken.dev/applies": String(++applies) } });
    }),
  },
  {
    name: "omits the time from managedFields",
    fails: ["T9.1", "T9.2"],
    writes,
    reply: (reply, ask) =>
      isApply(ask) && reply.status === 201
        ? rewritten(reply, (it) =>
            withMetadata(it, { managedFields: managedOf(it).map((entry) => ({ ...entry, time: undefined })) }),
          )
        : reply,
  },
  {
    name: "returns only the applied fields of an object",
    fails: ["T9.3"],
    writes,
    reply: (reply, ask) =>
      isApply(ask) && reply.status === 200
        ? rewritten(reply, (it) =>
            withMetadata(it, { annotations: { ...annotationsOf(it), "example.com/other": undefined } }),
          )
        : reply,
  },
  {
    name: "accepts an apply without a field manager",
    fails: ["T9.4"],
    writes,
    ask: (ask) => {
      if (isApply(ask) && !ask.query.has("fieldManager")) ask.query.set("fieldManager", "somebody");
      return undefined;
    },
  },
  {
    name: "rejects an apply in YAML",
    fails: ["T9.5"],
    writes,
    body: (body, ask) => (isApply(ask) && body.toString("utf8").startsWith("#") ? Buffer.from("{") : body),
  },
  {
    name: "executes a dry run of an apply",
    fails: ["T9.6"],
    writes,
    ask: (ask) => (isApply(ask) ? forget(ask, "dryRun") : undefined),
  },
  {
    name: "ignores the version of an apply",
    fails: ["T9.7"],
    writes,
    body: sent((it, ask) =>
      isApply(ask) && it["metadata"] !== undefined ? withMetadata(it, { resourceVersion: undefined }) : it,
    ),
  },
  {
    name: "lets users who may only patch create",
    fails: ["T9.8"],
    writes,
    ask: (ask) => {
      if (isApply(ask)) ask.headers.authorization = "Bearer known";
      return undefined;
    },
  },
  {
    name: "omits the other manager from a conflict",
    fails: ["T9.10"],
    writes,
    reply: (reply, ask) =>
      isApply(ask) && reply.status === 409
        ? rewritten(reply, (it) => {
            const details = it["details"] as { readonly causes?: readonly JsonObject[] } | undefined;
            const causes = details?.causes?.map((cause) => ({ ...cause, message: "conflict" }));
            return { ...it, details: { ...details, causes } };
          })
        : reply,
  },
  {
    name: "ignores force",
    fails: ["T9.11"],
    writes,
    ask: (ask) => (isApply(ask) ? forget(ask, "force") : undefined),
  },
  {
    name: "keeps only one owner for each field",
    fails: ["T9.12"],
    writes,
    reply: (reply, ask) =>
      isBy(ask, "conformance-two") && reply.status === 200 && !ask.query.has("force")
        ? rewritten(reply, (it) =>
            withMetadata(it, { managedFields: managedOf(it).filter(({ manager }) => manager === "conformance-two") }),
          )
        : reply,
  },
  {
    name: "keeps fields that are no longer applied",
    fails: ["T9.11", "T9.13"],
    writes,
    body: sent((it, ask) => {
      const annotations = annotationsOf(it);
      const dropped = isBy(ask, "conformance-one") && B in annotations && !(A in annotations);
      return dropped ? withMetadata(it, { annotations: { ...annotations, [A]: "1" } }) : it;
    }),
  },
  {
    name: "does not record the manager of an update",
    fails: ["T9.14", "V6"],
    writes,
    reply: (reply, ask) =>
      ask.method === "PUT" && reply.status === 200
        ? rewritten(reply, (it) =>
            withMetadata(it, { managedFields: managedOf(it).filter(({ operation }) => operation !== "Update") }),
          )
        : reply,
  },
  {
    name: "removes managers that an update omits",
    fails: ["T9.15"],
    writes,
    body: sent((it, ask) =>
      ask.method === "PUT" && metadataOf(it)["managedFields"] === undefined
        ? withMetadata(it, { managedFields: [{}] })
        : it,
    ),
  },
];
