import { type Breakage, forget, isList, isObject, plainText } from "./breakage.ts";

const WRONG = "Bearer conformance-no-such-token";

/** Wrong with errors, and with strangers. */
export const accessBreakages: readonly Breakage[] = [
  {
    name: "says in plain text that nothing is served under a path",
    fails: ["E1"],
    reply: (reply, { path }) => (reply.status === 404 && /nothing/.test(path) ? plainText(404) : reply),
  },
  {
    name: "says in plain text that an object is not there",
    fails: ["E2"],
    reply: (reply, ask) => (reply.status === 404 && isObject(ask) ? plainText(404) : reply),
  },
  {
    name: "says in plain text that a verb is not served",
    fails: ["E3"],
    reply: (reply) => (reply.status === 405 ? plainText(405) : reply),
  },
  {
    name: "says in plain text that a token is wrong",
    fails: ["E4"],
    reply: (reply) => (reply.status === 401 ? plainText(401) : reply),
  },
  {
    name: "reads a malformed selector as none",
    fails: ["E6"],
    ask: (ask) =>
      isList(ask) && /[(,]/.test(ask.query.get("labelSelector") ?? "") ? forget(ask, "labelSelector") : undefined,
  },
  {
    name: "reads a malformed limit as none",
    fails: ["E6"],
    ask: (ask) => (ask.query.get("limit") === "many" ? forget(ask, "limit") : undefined),
  },
  {
    name: "lets strangers in",
    fails: ["S1", "S3"],
    ask: ({ headers }) => {
      headers.authorization ??= "Bearer known";
      return undefined;
    },
  },
  {
    name: "takes a wrong token for no matter whose",
    fails: ["S2"],
    ask: ({ headers }) => {
      if (headers.authorization === WRONG) headers.authorization = "Bearer known";
      return undefined;
    },
  },
  {
    name: "tells strangers its version",
    fails: ["S3"],
    ask: ({ path, headers }) => {
      if (path.endsWith("/version")) headers.authorization ??= "Bearer known";
      return undefined;
    },
  },
];
