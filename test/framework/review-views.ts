// A view with its own rule, and callers that send it reviews.
import {
  type Authorizer,
  defineResource,
  defineVirtualWorkspace,
  staticTokens,
  User,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { type Answer, startPlain } from "../_support/plain.ts";

type Hooks = Pick<Partial<VirtualWorkspace>, "handle" | "resources">;

export const Quote = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  spec: { type: "object" },
  status: { type: "object" },
});
const OldQuote = defineResource({
  group: "test.dev",
  version: "v1beta1",
  kind: "Quote",
  scope: "Cluster",
  spec: { type: "object" },
});
export const Note = defineResource({
  group: "",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  spec: { type: "object" },
});

export const BASE = "/services/view/clusters/root";
export const WHO = `${BASE}/apis/authentication.k8s.io/v1/selfsubjectreviews` as const;
export const MAY = `${BASE}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews` as const;
export const RULES = `${BASE}/apis/authorization.k8s.io/v1/selfsubjectrulesreviews` as const;
export const AUTHN = "authentication.k8s.io/v1";
export const AUTHZ = "authorization.k8s.io/v1";

export const USERS = staticTokens({
  alice: {
    name: "alice",
    uid: "17",
    groups: ["devs", "größe"],
    extra: { "example.dev/scopes": ["a", "b"], "kein/ascii": ["ü"] },
  },
  bob: { name: "bob" },
});
/** A caller that is not authenticated. */
const stranger = {
  name: "stranger",
  authenticate: () => new User({ name: "system:anonymous", groups: ["system:unauthenticated"] }),
};

export function view(authorize: Authorizer<Record<string, string>>, more: Hooks = {}): VirtualWorkspace {
  const storage = Quote.collection();
  return defineVirtualWorkspace({
    name: "view",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: authorize as VirtualWorkspace["authorize"],
    resources: [OldQuote.serve(OldQuote.collection()), Quote.serve(storage), Note.serve(Note.collection())],
    ...more,
  });
}

export async function start(authorize: Authorizer<Record<string, string>>, more: Hooks = {}) {
  const server = await startPlain([view(authorize, more)], { authentication: [USERS, stranger] });
  const review = (spec: object, call: string = MAY): Promise<Answer> =>
    server.send(`POST ${call as "/x"}`, { apiVersion: AUTHZ, kind: kindAt(call), spec });
  return {
    server,
    review,
    may: async (resourceAttributes: object) => (await review({ resourceAttributes })).body.status,
    rules: async (namespace = "default") => (await review({ namespace }, RULES)).body.status,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const kindAt = (call: string): string =>
  call.includes("rules") ? "SelfSubjectRulesReview" : "SelfSubjectAccessReview";
