import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource } from "../../resource.ts";
import type { AccessContent, RulesContent, SubjectAccessContent, TokenReviewContent } from "./content.ts";
import { ACCESS_REVIEW, RULES_REVIEW, SELF_REVIEW, SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW } from "./protobuf.ts";

// As in Kubernetes, nothing is required, least of all in a status: clients send it empty, with null for its lists.

const texts: JsonSchema = { type: "array", items: { type: "string" } };
const extra: JsonSchema = { type: "object", additionalProperties: texts };
const userInfo: JsonSchema = {
  type: "object",
  properties: { username: { type: "string" }, uid: { type: "string" }, groups: texts, extra },
};

/** `authentication.k8s.io/v1` SelfSubjectReview: the identity of the caller. */
export const SelfSubjectReview: Resource = new Resource({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "SelfSubjectReview",
  scope: "Cluster",
  description:
    "Identity of the caller. Only create is supported, with an empty object; the response has the result in its status.",
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
    description: "Attributes of a request for objects.",
    properties: {
      namespace: { type: "string", description: "Empty for all namespaces, and for cluster-scoped resources." },
      verb: {
        type: "string",
        description: "get, list, watch, create, update, patch, delete, or another verb; * for all.",
      },
      group: { type: "string", description: "The API group; empty for the core group, * for all." },
      version: { type: "string", description: "The API version; empty for the preferred one." },
      resource: { type: "string", description: "The plural name of the resource; * for all." },
      subresource: { type: "string", description: "Empty for the object itself." },
      name: { type: "string", description: "The object's name; empty for all." },
      fieldSelector: { ...selector, description: "Authorizers ignore it." },
      labelSelector: { ...selector, description: "Authorizers ignore it." },
    },
  },
  nonResourceAttributes: {
    type: "object",
    description: "Attributes of a request for a non-resource path.",
    properties: {
      path: { type: "string", description: "The path below the view, such as /apis." },
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

/** `authorization.k8s.io/v1` SelfSubjectAccessReview: whether the caller may do something. */
export const SelfSubjectAccessReview: Resource<AccessContent> = new Resource<AccessContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  scope: "Cluster",
  description:
    "Whether the caller may do something. Only create is supported; the response has the result in its status.",
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

/** `authorization.k8s.io/v1` SelfSubjectRulesReview: what the caller may do. */
export const SelfSubjectRulesReview: Resource<RulesContent> = new Resource<RulesContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectRulesReview",
  scope: "Cluster",
  description:
    "Permissions of the caller in a namespace. Only create is supported; the response has the result in its status.",
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

// Reviews of other users than the caller, for views that decide for other servers.

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

/** `authorization.k8s.io/v1` SubjectAccessReview: whether a user may do something. */
export const SubjectAccessReview: Resource<SubjectAccessContent> = new Resource<SubjectAccessContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SubjectAccessReview",
  scope: "Cluster",
  description: "Whether a user may do something. Only create is supported; the response has the result in its status.",
  schema: ofSubject,
  subresources: { status: false },
  protobuf: SUBJECT_ACCESS_REVIEW,
});

/** `authorization.k8s.io/v1` LocalSubjectAccessReview: whether a user may do something in a namespace. */
export const LocalSubjectAccessReview: Resource<SubjectAccessContent> = new Resource<SubjectAccessContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "LocalSubjectAccessReview",
  scope: "Namespaced",
  description:
    "Whether a user may do something in a namespace. Only create is supported; the response has the result in its status.",
  schema: ofSubject,
  subresources: { status: false },
  protobuf: SUBJECT_ACCESS_REVIEW,
});

/** `authentication.k8s.io/v1` TokenReview: the user of a token. */
export const TokenReview: Resource<TokenReviewContent> = new Resource<TokenReviewContent>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenReview",
  scope: "Cluster",
  description: "The user of a token. Only create is supported; the response has the result in its status.",
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
