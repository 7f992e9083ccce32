import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource } from "../../resource.ts";
import type { AccessContent, RulesContent, SubjectAccessContent, TokenReviewContent } from "./content.ts";
import { ACCESS_REVIEW, RULES_REVIEW, SELF_REVIEW, SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW } from "./protobuf.ts";

// As in Kubernetes nothing is required, least of all of a status: clients send it empty, with null for its lists.

const texts: JsonSchema = { type: "array", items: { type: "string" } };
const extra: JsonSchema = { type: "object", additionalProperties: texts };
const userInfo: JsonSchema = {
  type: "object",
  properties: { username: { type: "string" }, uid: { type: "string" }, groups: texts, extra },
};

/** `authentication.k8s.io/v1` SelfSubjectReview: who am I. */
export const SelfSubjectReview: Resource = new Resource({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "SelfSubjectReview",
  scope: "Cluster",
  description: "Who the server takes the caller for. It is only created, with nothing in it; the answer is its status.",
  schema: {
    type: "object",
    properties: {
      status: {
        type: "object",
        properties: { userInfo },
      },
    },
  },
  subresources: { status: false },
  protobuf: SELF_REVIEW,
});

const requirements: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: { key: { type: "string" }, operator: { type: "string" }, values: texts },
  },
};
const selector: JsonSchema = { type: "object", properties: { rawSelector: { type: "string" }, requirements } };

const about: JsonSchema["properties"] = {
  resourceAttributes: {
    type: "object",
    description: "Of a request about objects.",
    properties: {
      namespace: { type: "string", description: "Empty for all, and for what is in none." },
      verb: {
        type: "string",
        description: "get, list, watch, create, update, patch, delete, or another; * for all.",
      },
      group: { type: "string", description: "The API group; empty for the core group, * for all." },
      version: { type: "string", description: "The API version; empty for the one that is preferred." },
      resource: { type: "string", description: "The resource in the plural; * for all." },
      subresource: { type: "string", description: "Empty for the object itself." },
      name: { type: "string", description: "The object's name; empty for all." },
      fieldSelector: { ...selector, description: "No rule here looks at it." },
      labelSelector: { ...selector, description: "No rule here looks at it." },
    },
  },
  nonResourceAttributes: {
    type: "object",
    description: "Of a request about a path that is no object.",
    properties: {
      path: { type: "string", description: "The path below the view: /apis" },
      verb: { type: "string", description: "The method in lower case; * for all." },
    },
  },
};
const accessStatus: JsonSchema = {
  type: "object",
  properties: {
    allowed: { type: "boolean" },
    denied: { type: "boolean" },
    reason: { type: "string" },
    evaluationError: { type: "string" },
  },
};

/** `authorization.k8s.io/v1` SelfSubjectAccessReview: may I do this. */
export const SelfSubjectAccessReview: Resource<AccessContent> = new Resource<AccessContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  scope: "Cluster",
  description: "Whether the caller may do something. It is only created; the answer is its status.",
  schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: about },
      status: accessStatus,
    },
  },
  subresources: { status: false },
  protobuf: ACCESS_REVIEW,
});

/** `authorization.k8s.io/v1` SelfSubjectRulesReview: what may I do. */
export const SelfSubjectRulesReview: Resource<RulesContent> = new Resource<RulesContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectRulesReview",
  scope: "Cluster",
  description: "What the caller may do in a namespace. It is only created; the answer is its status.",
  schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: { namespace: { type: "string" } } },
      status: {
        type: "object",
        properties: {
          resourceRules: {
            type: "array",
            items: {
              type: "object",
              properties: { verbs: texts, apiGroups: texts, resources: texts, resourceNames: texts },
            },
          },
          nonResourceRules: {
            type: "array",
            items: { type: "object", properties: { verbs: texts, nonResourceURLs: texts } },
          },
          incomplete: { type: "boolean" },
          evaluationError: { type: "string" },
        },
      },
    },
  },
  subresources: { status: false },
  protobuf: RULES_REVIEW,
});

// Those that a server answers of others than the caller: for views that decide for other servers.

const ofSubject: JsonSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: { ...about, user: { type: "string" }, groups: texts, extra, uid: { type: "string" } },
    },
    status: accessStatus,
  },
};

/** `authorization.k8s.io/v1` SubjectAccessReview: may they do this. */
export const SubjectAccessReview: Resource<SubjectAccessContent> = new Resource<SubjectAccessContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SubjectAccessReview",
  scope: "Cluster",
  description: "Whether somebody may do something. It is only created; the answer is its status.",
  schema: ofSubject,
  subresources: { status: false },
  protobuf: SUBJECT_ACCESS_REVIEW,
});

/** `authorization.k8s.io/v1` LocalSubjectAccessReview: may they do this in this namespace. */
export const LocalSubjectAccessReview: Resource<SubjectAccessContent> = new Resource<SubjectAccessContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "LocalSubjectAccessReview",
  scope: "Namespaced",
  description: "Whether somebody may do something in a namespace. It is only created; the answer is its status.",
  schema: ofSubject,
  subresources: { status: false },
  protobuf: SUBJECT_ACCESS_REVIEW,
});

/** `authentication.k8s.io/v1` TokenReview: whose token is this. */
export const TokenReview: Resource<TokenReviewContent> = new Resource<TokenReviewContent>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenReview",
  scope: "Cluster",
  description: "Whose a token is. It is only created; the answer is its status.",
  schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: { token: { type: "string" }, audiences: texts } },
      status: {
        type: "object",
        properties: { authenticated: { type: "boolean" }, user: userInfo, audiences: texts, error: { type: "string" } },
      },
    },
  },
  subresources: { status: false },
  protobuf: TOKEN_REVIEW,
});
