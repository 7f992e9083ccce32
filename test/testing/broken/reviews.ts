import { type Ask, type Breakage, type JsonObject, type Reply, rewritten, sent } from "./breakage.ts";

/** Faults of reviews. */
export const reviewBreakages: readonly Breakage[] = [
  {
    name: "denies a list of all namespaces in a review, but serves it",
    fails: ["T20.1"],
    reply: (reply, ask) => denied(reply, ask, ({ verb, namespace }) => verb === "list" && namespace === undefined),
  },
  {
    name: "denies a get in a review, but serves it",
    fails: ["T20.2"],
    reply: (reply, ask) => denied(reply, ask, ({ verb }) => verb === "get"),
  },
  {
    name: "allows a get in a review, but forbids it",
    fails: ["T20.2"],
    reply: (reply, { method, path }) =>
      method === "GET" && reply.status === 404 && path.endsWith("/notes/conformance-there-is-no-such-object")
        ? { ...reply, status: 403 }
        : reply,
  },
  {
    name: "omits list from complete rules",
    fails: ["T20.3"],
    reply: (reply, ask) => complete(reply, ask, [{ verbs: ["get", "watch"], apiGroups: ["*"], resources: ["*"] }]),
  },
  {
    name: "has list only for some names in complete rules",
    fails: ["T20.3"],
    reply: (reply, ask) =>
      complete(reply, ask, [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: ["a"] }]),
  },
  {
    name: "evaluates the first attributes of an ambiguous review",
    fails: ["T20.4"],
    body: sent((review, ask) => {
      const { resourceAttributes, ...spec } = (review["spec"] ?? {}) as JsonObject;
      return isReview(ask, "access") && resourceAttributes !== undefined && Object.keys(spec).length > 0
        ? { ...review, spec: { resourceAttributes } }
        : review;
    }),
  },
  {
    name: "evaluates a review without attributes",
    fails: ["T20.4"],
    body: sent((review, ask) =>
      isReview(ask, "access") && Object.keys((review["spec"] ?? {}) as JsonObject).length === 0
        ? { ...review, spec: { resourceAttributes: { verb: "*", group: "*", resource: "*" } } }
        : review,
    ),
  },
];

function isReview({ method, path }: Ask, about: "access" | "rules"): boolean {
  return method === "POST" && path.endsWith(`/selfsubject${about}reviews`);
}

function denied(reply: Reply, ask: Ask, matches: (attributes: JsonObject) => boolean): Reply {
  if (!isReview(ask, "access")) return reply;
  return rewritten(reply, (review) => {
    const { resourceAttributes = {} } = (review["spec"] ?? {}) as { readonly resourceAttributes?: JsonObject };
    return matches(resourceAttributes) ? { ...review, status: { allowed: false } } : review;
  });
}

function complete(reply: Reply, ask: Ask, resourceRules: readonly object[]): Reply {
  if (!isReview(ask, "rules")) return reply;
  return rewritten(reply, (review) => ({
    ...review,
    status: { resourceRules, nonResourceRules: [], incomplete: false },
  }));
}
