import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { type ProtobufMessage, Resource } from "@virtual-workspaces/framework";
import type { AccessReviewContent, TokenRequestContent, TokenReviewContent } from "./content.ts";

// As in Kubernetes little is required, least of all of a status: clients send it empty. Those kinds whose protobuf holds
// numbers or maps of lists are read from JSON and YAML only: a review that lost its extras on the way would answer wrongly.

const texts: JsonSchema = { type: "array", items: { type: "string" } };
const extra: JsonSchema = { type: "object", additionalProperties: texts };

const metadata = { name: "metadata", of: { 1: { name: "name" }, 3: { name: "namespace" } } } as const;
const TOKEN_REVIEW: ProtobufMessage = {
  1: metadata,
  2: { name: "spec", of: { 1: { name: "token" }, 2: { name: "audiences", form: "list" } } },
};

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
        properties: {
          authenticated: { type: "boolean" },
          user: {
            type: "object",
            properties: { username: { type: "string" }, uid: { type: "string" }, groups: texts, extra },
          },
          audiences: texts,
          error: { type: "string" },
        },
      },
    },
  },
  subresources: { status: false },
  protobuf: TOKEN_REVIEW,
});

/** `authentication.k8s.io/v1` TokenRequest: a token for a ServiceAccount, by its subresource `token`. */
export const TokenRequest: Resource<TokenRequestContent> = new Resource<TokenRequestContent>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  scope: "Namespaced",
  description: "A token for a service account. It is only created; the token is in its status.",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          audiences: { ...texts, description: "For whom it is; none: for this server." },
          expirationSeconds: { type: "integer", format: "int64", default: 3600, description: "600 at least." },
          boundObjectRef: {
            type: "object",
            description: "The Secret with which it ends.",
            properties: {
              kind: { type: "string" },
              apiVersion: { type: "string" },
              name: { type: "string" },
              uid: { type: "string" },
            },
          },
        },
      },
      status: {
        type: "object",
        properties: { token: { type: "string" }, expirationTimestamp: { type: "string", format: "date-time" } },
      },
    },
  },
  subresources: { status: false },
});

const requirements: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: { key: { type: "string" }, operator: { type: "string" }, values: texts },
  },
};
const selector: JsonSchema = { type: "object", properties: { rawSelector: { type: "string" }, requirements } };

const accessReview: JsonSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        resourceAttributes: {
          type: "object",
          description: "Of a request about objects.",
          properties: {
            namespace: { type: "string" },
            verb: { type: "string" },
            group: { type: "string" },
            version: { type: "string" },
            resource: { type: "string" },
            subresource: { type: "string" },
            name: { type: "string" },
            fieldSelector: { ...selector, description: "No rule here looks at it." },
            labelSelector: { ...selector, description: "No rule here looks at it." },
          },
        },
        nonResourceAttributes: {
          type: "object",
          description: "Of a request about a path that is no object.",
          properties: { path: { type: "string" }, verb: { type: "string" } },
        },
        user: { type: "string" },
        groups: texts,
        extra,
        uid: { type: "string" },
      },
    },
    status: {
      type: "object",
      properties: {
        allowed: { type: "boolean" },
        denied: { type: "boolean" },
        reason: { type: "string" },
        evaluationError: { type: "string" },
      },
    },
  },
};

/** `authorization.k8s.io/v1` SubjectAccessReview: may they do this. */
export const SubjectAccessReview: Resource<AccessReviewContent> = new Resource<AccessReviewContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SubjectAccessReview",
  scope: "Cluster",
  description: "Whether somebody may do something. It is only created; the answer is its status.",
  schema: accessReview,
  subresources: { status: false },
});

/** `authorization.k8s.io/v1` LocalSubjectAccessReview: may they do this in this namespace. */
export const LocalSubjectAccessReview: Resource<AccessReviewContent> = new Resource<AccessReviewContent>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "LocalSubjectAccessReview",
  scope: "Namespaced",
  description: "Whether somebody may do something in a namespace. It is only created; the answer is its status.",
  schema: accessReview,
  subresources: { status: false },
});
