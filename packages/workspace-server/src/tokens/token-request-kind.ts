import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { tokenRequestMessage } from "../kinds/protobuf-reviews.ts";
import type { TokenRequestContent } from "./token-request-content.ts";

// As in Kubernetes little is required, least of all of a status: clients send it empty.

const texts: JsonSchema = { type: "array", items: { type: "string" } };

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
  protobuf: tokenRequestMessage,
});
