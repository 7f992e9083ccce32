import { formatCause, isJsonObject, type JsonSchema, type Status } from "@virtual-workspaces/apimachinery";
import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import type { PhysicalSpace } from "../../provider/provider.ts";

/** Bodies of the protocol, by their schema names in its document. */
export interface Bodies {
  readonly Space: PhysicalSpace;
  readonly SpaceList: { readonly items: readonly PhysicalSpace[]; readonly continue?: string };
  readonly SpaceRequest: object;
  readonly SpaceEvent: {
    readonly type: "CHANGED" | "BOOKMARK" | "ERROR";
    readonly name?: string;
    readonly status?: Status;
  };
  readonly ProviderStatus: {
    readonly ready: boolean;
    readonly message?: string;
    readonly version: string;
    readonly capabilities: Capabilities;
  };
  readonly Status: Status;
}

/** Operations that a provider supports. */
export type Capabilities = Readonly<Record<"create" | "delete" | "watch" | "hierarchy", boolean>>;
export type BodyName = keyof Bodies;
export type ProtocolEvent = Bodies["SpaceEvent"];

/** Names appear in URLs without encoding. Security: none is a dot segment. */
export const NAME: JsonSchema & { readonly pattern: string } = {
  type: "string",
  pattern: "^[A-Za-z0-9_][-._A-Za-z0-9]{0,252}$",
};
/** The same length as `checkedSpace` allows. */
const TEXT: JsonSchema = { type: "string", minLength: 1, maxLength: 253 };
const MESSAGE: JsonSchema = { type: "string", maxLength: 1024 };

const SPACE: JsonSchema = {
  type: "object",
  description: "A space as its provider has it, without credentials, which have an endpoint of their own.",
  required: ["name", "phase"],
  properties: {
    name: { ...NAME, description: "Name of the space, unique below its parent." },
    id: {
      ...TEXT,
      description:
        "Identifier of the space. A space that is deleted and created again gets another one. Without it clients cannot tell the two apart.",
    },
    phase: {
      type: "string",
      enum: ["Initializing", "Ready"],
      description: "Ready: the space answers. Initializing: it does not answer yet, or does not at the moment.",
    },
    message: { ...MESSAGE, description: "Reason why the space is not ready, without secrets." },
    accessVersion: {
      ...TEXT,
      description: "Version of the kubeconfigs of the space. It changes when credentials are rotated.",
    },
    externalName: { ...TEXT, description: "Another name of the space, by which clients find it." },
  },
};

const SPACE_LIST: JsonSchema = {
  type: "object",
  required: ["items"],
  properties: {
    items: { type: "array", items: SPACE, description: "Spaces sorted by name, without duplicates." },
    continue: {
      type: "string",
      minLength: 1,
      maxLength: 1024,
      description: "Query parameter continue of the next page, if there is one. Such a page is not empty.",
    },
  },
};

const SPACE_REQUEST: JsonSchema = {
  type: "object",
  description: "Options of a new space. This version has no fields.",
  maxProperties: 0,
};

const STATUS: JsonSchema = {
  type: "object",
  description: "Error of a request, as in Kubernetes (v1, Status).",
  required: ["kind", "apiVersion", "status", "message", "code"],
  properties: {
    kind: { type: "string", enum: ["Status"] },
    apiVersion: { type: "string", enum: ["v1"] },
    status: { type: "string", enum: ["Failure"] },
    message: { type: "string", description: "Human-readable reason, shown in a condition, without secrets." },
    reason: { type: "string", description: "Machine-readable reason, such as NotFound, Conflict or TooManyRequests." },
    code: { type: "integer", minimum: 400, maximum: 599, description: "HTTP status code of the response." },
    details: {
      type: "object",
      properties: {
        name: { type: "string", description: "Name of the space that the error is about." },
        kind: { type: "string", description: "spaces, if the error is about one space." },
        retryAfterSeconds: { type: "integer", minimum: 0, description: "Delay before a retry, as in Retry-After." },
      },
    },
  },
};

const SPACE_EVENT: JsonSchema = {
  type: "object",
  description: "Line of a watch. An event is a hint: the client reads the space afterwards.",
  required: ["type"],
  properties: {
    type: {
      type: "string",
      enum: ["CHANGED", "BOOKMARK", "ERROR"],
      description:
        "CHANGED: a space was added, deleted or changed. BOOKMARK: no change, the stream is alive. ERROR: the stream ends, for the reason in status.",
    },
    name: { ...NAME, description: "For CHANGED: name of the space. Without it any space may have changed." },
    status: { ...STATUS, description: "For ERROR: the reason." },
  },
};

const PROVIDER_STATUS: JsonSchema = {
  type: "object",
  required: ["ready", "version", "capabilities"],
  properties: {
    ready: { type: "boolean", description: "Whether the provider is ready. If not, other requests get 503." },
    message: { ...MESSAGE, description: "Reason why the provider is not ready, without secrets." },
    version: { ...TEXT, description: "Human-readable version of the provider." },
    capabilities: {
      type: "object",
      description: "Operations that the provider supports. Others get 501.",
      required: ["create", "delete", "watch", "hierarchy"],
      properties: {
        create: { type: "boolean", description: "Whether the provider creates spaces." },
        delete: { type: "boolean", description: "Whether the provider deletes spaces." },
        watch: { type: "boolean", description: "Whether the provider reports changes in a watch." },
        hierarchy: { type: "boolean", description: "Whether spaces have parents: the query parameter parent." },
      },
    },
  },
};

/** Schemas of the bodies, by their names in the protocol's document. */
export const SCHEMAS: Readonly<Record<BodyName, JsonSchema>> = {
  Space: SPACE,
  SpaceList: SPACE_LIST,
  SpaceRequest: SPACE_REQUEST,
  SpaceEvent: SPACE_EVENT,
  ProviderStatus: PROVIDER_STATUS,
  Status: STATUS,
};

const compiled = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [name, compileSchema(schema)]));

/** Returns the first problem of a body, which names the field; `undefined` if it is valid. */
export function problemOf(name: BodyName, value: unknown): string | undefined {
  if (!isJsonObject(value)) return "it is not a JSON object";
  const [cause] = compiled.get(name)?.validate(value) ?? [];
  return cause && formatCause(cause);
}

const names = new RegExp(NAME.pattern, "u");

/** Reports whether a value is a valid space name. */
export const isSpaceName = (name: unknown): name is string => typeof name === "string" && names.test(name);

/** Remedy for an invalid space name. */
export const NAME_PROBLEM =
  "use 1 to 253 letters, digits, dashes, dots and underscores, not starting with a dash or a dot";
