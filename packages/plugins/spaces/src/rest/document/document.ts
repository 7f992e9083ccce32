import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import type { OpenAPIV3, OpenAPIV3_1 } from "openapi-types";
import { OPERATIONS } from "./operations.ts";
import { NAME, SCHEMAS } from "./schemas.ts";

const DESCRIPTION = `What a program answers that has spaces to give: anything that answers as a Kubernetes API server. Whoever manages Spaces asks it, by a bearer token or a client certificate,
over TLS; nobody else is answered. All paths are below whatever URL the provider is given by.

Calls are made again after failures, and after whoever made them was killed in the middle: each is harmless when done twice. What is not known is an error, and
never an empty answer: what a list leaves out, and a 404 says of, is taken to be gone. Methods that a path does not have are 405. Redirects are not followed. Errors are Kubernetes'
Status; fields that are not described here are passed over.`;

/** Which its types do not know: they are those of 3.0 here. */
const MUTUAL_TLS = { type: "mutualTLS" } as unknown as OpenAPIV3_1.SecuritySchemeObject;

/** Frozen: what one has of it another has too. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

/** Kubernetes' schemas are JSON Schemas as they stand, where they use what both have. */
const asSchema = (schema: JsonSchema): OpenAPIV3_1.SchemaObject => schema as OpenAPIV3_1.SchemaObject;

/**
 * The protocol between whoever manages Spaces and a provider in a process of its own, in any language: an OpenAPI 3.1 document. {@link spaceProviderView} serves it,
 * at `/openapi.json`, and does what it says; {@link restProvider} asks by it. What differs from it is a fault of the code.
 */
export const spaceProviderOpenAPI: OpenAPIV3_1.Document = frozen({
  openapi: "3.1.0",
  info: { title: "Space provider", version: "v1", description: DESCRIPTION },
  paths: OPERATIONS,
  security: [{ token: [] }, { certificate: [] }],
  components: {
    securitySchemes: { token: { type: "http", scheme: "bearer" }, certificate: MUTUAL_TLS },
    parameters: {
      name: { name: "name", in: "path", required: true, schema: asSchema(NAME) as OpenAPIV3.SchemaObject },
      parent: {
        ...{ name: "parent", in: "query" },
        description:
          "Below which space, by its path (root:org). Without it: where the provider has spaces by itself. One without a hierarchy answers it with 501.",
        schema: { type: "string", minLength: 1, maxLength: 1024 },
      },
    },
    schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, asSchema(schema)])),
  },
});
