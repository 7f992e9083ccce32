import { type Breakage, forget, isList, isObject, plainText } from "./breakage.ts";

const WRONG = "Bearer conformance-no-such-token";

/** Faults of errors and authentication. */
export const accessBreakages: readonly Breakage[] = [
  {
    name: "answers an unserved path in plain text",
    fails: ["E1"],
    reply: (reply, { path }) => (reply.status === 404 && /nothing/.test(path) ? plainText(404) : reply),
  },
  {
    name: "answers a get of a missing object in plain text",
    fails: ["E2"],
    reply: (reply, ask) => (reply.status === 404 && isObject(ask) ? plainText(404) : reply),
  },
  {
    name: "answers an unserved verb in plain text",
    fails: ["E3"],
    reply: (reply) => (reply.status === 405 ? plainText(405) : reply),
  },
  {
    name: "answers a wrong token in plain text",
    fails: ["E4"],
    reply: (reply) => (reply.status === 401 ? plainText(401) : reply),
  },
  {
    name: "ignores a malformed selector",
    fails: ["E6"],
    ask: (ask) =>
      isList(ask) && /[(,]/.test(ask.query.get("labelSelector") ?? "") ? forget(ask, "labelSelector") : undefined,
  },
  {
    name: "ignores a malformed limit",
    fails: ["E6"],
    ask: (ask) => (ask.query.get("limit") === "many" ? forget(ask, "limit") : undefined),
  },
  {
    name: "accepts requests without credentials",
    fails: ["S1", "S3"],
    ask: ({ headers }) => {
      headers.authorization ??= "Bearer known";
      return undefined;
    },
  },
  {
    name: "accepts a wrong token",
    fails: ["S2"],
    ask: ({ headers }) => {
      if (headers.authorization === WRONG) headers.authorization = "Bearer known";
      return undefined;
    },
  },
  {
    name: "serves its version to unauthenticated clients",
    fails: ["S3"],
    ask: ({ path, headers }) => {
      if (path.endsWith("/version")) headers.authorization ??= "Bearer known";
      return undefined;
    },
  },
];
