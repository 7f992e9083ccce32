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

/** Why anything may not be done, by its code. */
const ERRORS: Readonly<Record<string, Response>> = {
  "400": refused("The request is wrong: the message names what, and the remedy."),
  "401": refused("Nobody here knows the credentials.", {
    "WWW-Authenticate": { description: "Bearer", schema: { type: "string" } },
  }),
  "403": refused("They are somebody's who may not do this."),
  "404": refused(
    "There is no such space: then details.kind is spaces, and details.name its name. Any other 404 is about the path, and says nothing of spaces.",
  ),
  "409": refused("It cannot be done of the space as it is now: it is not ready."),
  "410": refused("The page cannot be had any more: begin with the first."),
  "413": refused("The body is longer than 64 KiB."),
  "415": refused("The body is no plain JSON."),
  "429": refused("There is too much to do.", retry),
  "500": refused("The provider has failed: the message says of what."),
  "501": refused("The provider is not able to do it: its capabilities say so."),
  "503": refused("It is not ready, or is about to end.", retry),
  "504": refused("It has not been done in time: it may be done still."),
};
const ANY = ["400", "401", "403", "429", "500", "503", "504"];

const errors = (...codes: readonly string[]): Record<string, Response> =>
  Object.fromEntries([...ANY, ...codes].sort().flatMap((code) => (ERRORS[code] ? [[code, ERRORS[code]]] : [])));

const status: Operation = {
  operationId: "getStatus",
  summary: "How the provider is, and what it is able to do. Asked once, when it is opened.",
  responses: { "200": json("How it is.", "ProviderStatus"), ...errors() },
};

const list: Operation = {
  operationId: "listSpaces",
  summary: "All spaces in pages, or what changes.",
  description:
    "A list is taken at its word, in the order of names: a space that is there from the first page to the last is on one of them. " +
    "With watch=1 the answer is a line of JSON (SpaceEvent) for each change, until either side ends it. A BOOKMARK comes at once, when nothing is missed any more, " +
    "and there is a line at least every 30 s: who hears nothing for 60 s asks anew. There is no cursor by which a watch could be taken up again: " +
    "events are hints, which may be said twice or too often, and whoever begins to watch lists what there is, after the first line. So no server has to remember what it has said, and 410 is never about a watch.",
  parameters: [
    PARENT,
    {
      name: "limit",
      in: "query",
      description: "The most on a page. All, where it is not given.",
      schema: { type: "integer", minimum: 1 },
    },
    {
      name: "continue",
      in: "query",
      description: "As the page before says it.",
      schema: { type: "string", maxLength: 1024 },
    },
    {
      name: "watch",
      in: "query",
      description: "Whether what changes is asked for.",
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
  summary: "One space.",
  responses: { "200": json("It is there.", "Space"), ...errors("404", "501") },
};

const create: Operation = {
  operationId: "createSpace",
  summary: "Begins to make a space.",
  description: "Done twice it does nothing more, also while the space is being made, and when it is there.",
  requestBody: { required: true, content: body(MEDIA.json, "SpaceRequest") },
  responses: { "202": { description: "It is there, or will be: without a body." }, ...errors("413", "415", "501") },
};

const remove: Operation = {
  operationId: "deleteSpace",
  summary: "Begins to delete a space.",
  description: "Done twice it does nothing more. One that is not there is done as well: 202, or 404 about the space.",
  responses: { "202": { description: "It is gone, or will be: without a body." }, ...errors("404", "501") },
};

const kubeconfig: Operation = {
  operationId: "getKubeconfig",
  summary: "How a space is reached that is ready.",
  description:
    "A kubeconfig of one context, with all that it needs in it: one that runs a program (exec), or names files, is taken by nobody. Where one is for both scopes it is the answer to both.",
  parameters: [
    {
      name: "scope",
      in: "query",
      required: true,
      description: "From where: from the provider's own network, or from anywhere.",
      schema: { type: "string", enum: ["incluster", "external"] },
    },
  ],
  responses: {
    "200": {
      description: "Secret: at most 256 KiB, and kept by no cache.",
      headers: { "Cache-Control": { description: "no-store", schema: { type: "string", enum: ["no-store"] } } },
      content: text(MEDIA.kubeconfig),
    },
    ...errors("404", "409", "501"),
  },
};

const document: Operation = {
  operationId: "getDocument",
  summary: "This document. A provider may leave it out.",
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

/** What there is to ask, by path. Its types want operations to be of OpenAPI 3.0 as well. */
const OPERATIONS: OpenAPIV3_1.PathsObject = PATHS as unknown as OpenAPIV3_1.PathsObject;

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
        name: "parent",
        in: "query",
        description:
          "Below which space, by its path (root:org). Without it: where the provider has spaces by itself. One without a hierarchy answers it with 501.",
        schema: { type: "string", minLength: 1, maxLength: 1024 },
      },
    },
    schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, asSchema(schema)])),
  },
});
