import { type Ask, type Breakage, type JsonObject, type Reply, rewritten, sent } from "./breakage.ts";

/** Wrong with reviews. */
export const reviewBreakages: readonly Breakage[] = [
  {
    name: "says no to a list of all namespaces that it answers",
    fails: ["T20.1"],
    reply: (reply, ask) => denied(reply, ask, ({ verb, namespace }) => verb === "list" && namespace === undefined),
  },
  {
    name: "says no to a get that it answers",
    fails: ["T20.2"],
    reply: (reply, ask) => denied(reply, ask, ({ verb }) => verb === "get"),
  },
  {
    name: "says yes to a get that it forbids",
    fails: ["T20.2"],
    reply: (reply, { method, path }) =>
      method === "GET" && reply.status === 404 && path.endsWith("/notes/conformance-there-is-no-such-object")
        ? { ...reply, status: 403 }
        : reply,
  },
  {
    name: "leaves list out of the rules, and calls them complete",
    fails: ["T20.3"],
    reply: (reply, ask) => complete(reply, ask, [{ verbs: ["get", "watch"], apiGroups: ["*"], resources: ["*"] }]),
  },
  {
    name: "has list in the rules for some names only, and calls them complete",
    fails: ["T20.3"],
    reply: (reply, ask) =>
      complete(reply, ask, [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: ["a"] }]),
  },
  {
    name: "answers the first of two questions",
    fails: ["T20.4"],
    body: sent((review, ask) => {
      const { resourceAttributes, ...spec } = (review["spec"] ?? {}) as JsonObject;
      return isReview(ask, "access") && resourceAttributes !== undefined && Object.keys(spec).length > 0
        ? { ...review, spec: { resourceAttributes } }
        : review;
    }),
  },
  {
    name: "takes no question for one about everything",
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
