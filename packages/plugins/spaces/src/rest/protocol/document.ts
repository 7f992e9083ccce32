import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import type { OpenAPIV3, OpenAPIV3_1 } from "openapi-types";
import type { BodyName } from "./bodies.ts";
import { NAME, SCHEMAS } from "./bodies.ts";
import { MEDIA } from "./protocol.ts";

type Operation = OpenAPIV3_1.OperationObject;
type Response = OpenAPIV3_1.ResponseObject;

const body = (type: string, name: BodyName) => ({ [type]: { schema: { $ref: `#/components/schemas/${name}` } } });
const json = (description: string, name: BodyName): Response => ({ description, content: body(MEDIA.json, name) });
const text = (type: string) => ({ [type]: { schema: { type: "string" } } }) as const;

const PARENT = { $ref: "#/components/parameters/parent" };
const retry = { "Retry-After": { description: "s", schema: { type: "integer" } } } as const;
const refused = (description: string, headers?: Response["headers"]): Response => ({
  ...json(description, "Status"),
  ...(headers && { headers }),
});

/** Error responses by status code. */
const ERRORS: Readonly<Record<string, Response>> = {
  "400": refused("The request is invalid: the message names the field and the remedy."),
  "401": refused("The credentials are missing or not valid.", {
    "WWW-Authenticate": { description: "Bearer", schema: { type: "string" } },
  }),
  "403": refused("The user is not authorized."),
  "404": refused(
    "There is no such space: details.kind is spaces and details.name is its name. Any other 404 is about the path and does not mean that a space is gone.",
  ),
  "409": refused("The state of the space does not allow the operation: it is not ready."),
  "410": refused("The continue token has expired: start again with the first page."),
  "413": refused("The request body is longer than 64 KiB."),
  "415": refused("The request body is not plain JSON."),
  "429": refused("Too many requests are in progress.", retry),
  "500": refused("The provider has failed; the message gives the reason."),
  "501": refused("The provider does not support the operation, as its capabilities say."),
  "503": refused("The provider is not ready, or is shutting down.", retry),
  "504": refused("The operation timed out and may still be carried out."),
};
const ANY = ["400", "401", "403", "429", "500", "503", "504"];

const errors = (...codes: readonly string[]): Record<string, Response> =>
  Object.fromEntries([...ANY, ...codes].sort().flatMap((code) => (ERRORS[code] ? [[code, ERRORS[code]]] : [])));

const status: Operation = {
  operationId: "getStatus",
  summary: "Gets the state and the capabilities of the provider. Clients read it once, when they open the provider.",
  responses: { "200": json("State of the provider.", "ProviderStatus"), ...errors() },
};

const list: Operation = {
  operationId: "listSpaces",
  summary: "Lists all spaces in pages, or watches them.",
  description:
    "Clients treat a space that is not in the list as deleted. Spaces are sorted by name, so that a space that exists throughout is on one of the pages. " +
    "With watch=1 the response has one line of JSON (SpaceEvent) for each change, until either side ends it. A BOOKMARK is sent at once, when the watch is complete, " +
    "and there is a line at least every 30 s: a client that reads none for 60 s restarts the watch. A watch cannot be resumed: " +
    "events are hints, which may be repeated, and a client lists after the first line of a watch. So no server has to remember events, and 410 is never about a watch.",
  parameters: [
    PARENT,
    {
      name: "limit",
      in: "query",
      description: "Maximum number of spaces per page. Defaults to all.",
      schema: { type: "integer", minimum: 1 },
    },
    {
      name: "continue",
      in: "query",
      description: "Token from the previous page.",
      schema: { type: "string", maxLength: 1024 },
    },
    {
      name: "watch",
      in: "query",
      description: "Whether to watch for changes.",
      schema: { type: "string", enum: ["1", "0"] },
    },
  ],
  responses: {
    "200": {
      description: "A page; or, with watch=1, a line of JSON for each event.",
      content: { ...body(MEDIA.json, "SpaceList"), ...body(MEDIA.events, "SpaceEvent") },
    },
    ...errors("410", "501"),
  },
};

const get: Operation = {
  operationId: "getSpace",
  summary: "Gets one space.",
  responses: { "200": json("The space.", "Space"), ...errors("404", "501") },
};

const create: Operation = {
  operationId: "createSpace",
  summary: "Starts to create a space.",
  description: "Idempotent: repeating it does nothing, also while the space is being created and when it exists.",
  requestBody: { required: true, content: body(MEDIA.json, "SpaceRequest") },
  responses: {
    "202": { description: "The space exists or will be created. There is no response body." },
    ...errors("413", "415", "501"),
  },
};

const remove: Operation = {
  operationId: "deleteSpace",
  summary: "Starts to delete a space.",
  description: "Idempotent. A space that does not exist counts as deleted: 202, or 404 about the space.",
  responses: {
    "202": { description: "The space is gone or will be deleted. There is no response body." },
    ...errors("404", "501"),
  },
};

const kubeconfig: Operation = {
  operationId: "getKubeconfig",
  summary: "Gets the kubeconfig of a ready space.",
  description:
    "A self-contained kubeconfig with one context. Clients reject one that runs a program (exec) or names files. If there is only one kubeconfig it is returned for both scopes.",
  parameters: [
    {
      name: "scope",
      in: "query",
      required: true,
      description: "Network of the client: that of the provider, or any.",
      schema: { type: "string", enum: ["incluster", "external"] },
    },
  ],
  responses: {
    "200": {
      description: "Kubeconfig of at most 256 KiB. It contains credentials, and caches do not store it.",
      headers: { "Cache-Control": { description: "no-store", schema: { type: "string", enum: ["no-store"] } } },
      content: text(MEDIA.kubeconfig),
    },
    ...errors("404", "409", "501"),
  },
};

const document: Operation = {
  operationId: "getDocument",
  summary: "Gets this document. A provider may omit it.",
  responses: {
    "200": { description: "It.", content: { [MEDIA.json]: { schema: { type: "object" } } } },
    ...errors("404"),
  },
};

const NAMED = { parameters: [{ $ref: "#/components/parameters/name" }, PARENT] };

interface Path extends Partial<Record<"get" | "put" | "delete", Operation>> {
  readonly parameters?: readonly OpenAPIV3_1.ReferenceObject[];
}

const PATHS: Readonly<Record<string, Path>> = {
  "/openapi.json": { get: document },
  "/v1/status": { get: status },
  "/v1/spaces": { get: list },
  "/v1/spaces/{name}": { ...NAMED, get, put: create, delete: remove },
  "/v1/spaces/{name}/kubeconfig": { ...NAMED, get: kubeconfig },
};

/** Operations of the protocol by path. The library's types require operations to fit OpenAPI 3.0 as well. */
const OPERATIONS: OpenAPIV3_1.PathsObject = PATHS as unknown as OpenAPIV3_1.PathsObject;

const DESCRIPTION = `API of a provider of spaces; a space is any Kubernetes API server. The manager of Spaces calls it with a bearer token or a client certificate
over TLS; all other callers are rejected. All paths are relative to the base URL of the provider.

The manager repeats calls after failures and after its own crash, so each call is idempotent. Unknown state is an error and never an empty response:
the manager treats a space that a list omits, or that gets 404, as gone. Methods that a path does not support get 405. Redirects are not followed. Errors are Kubernetes'
Status; unknown fields are ignored.`;

/** The library's types are those of OpenAPI 3.0 here and lack it. */
const MUTUAL_TLS = { type: "mutualTLS" } as unknown as OpenAPIV3_1.SecuritySchemeObject;

/** Freezes a value that several documents share. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

/** Kubernetes' schemas are valid JSON Schemas as long as they use what both have. */
const asSchema = (schema: JsonSchema): OpenAPIV3_1.SchemaObject => schema as OpenAPIV3_1.SchemaObject;

/**
 * OpenAPI 3.1 document of the protocol between the manager of Spaces and a provider in another process, in any language.
 * {@link spaceProviderView} implements it and serves it at `/openapi.json`; {@link restProvider} is its client. The document is
 * authoritative: code that differs is wrong.
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
        name: "parent",
        in: "query",
        description:
          "Path of the parent space (root:org). Defaults to the provider's own place for spaces. A provider without a hierarchy responds with 501.",
        schema: { type: "string", minLength: 1, maxLength: 1024 },
      },
    },
    schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, asSchema(schema)])),
  },
});
