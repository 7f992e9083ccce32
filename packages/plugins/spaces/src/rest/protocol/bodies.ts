import { formatCause, isJsonObject, type JsonSchema, type Status } from "@virtual-workspaces/apimachinery";
import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import type { PhysicalSpace } from "../../provider/provider.ts";

/** What the bodies of the protocol say, by their names in its document. */
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

/** What a provider is able to do. */
export type Capabilities = Readonly<Record<"create" | "delete" | "watch" | "hierarchy", boolean>>;
export type BodyName = keyof Bodies;
export type ProtocolEvent = Bodies["SpaceEvent"];

/** Names stand in URLs as they are: nothing of them is encoded, and none is a dot segment. */
export const NAME: JsonSchema & { readonly pattern: string } = {
  type: "string",
  pattern: "^[A-Za-z0-9_][-._A-Za-z0-9]{0,252}$",
};
/** As long as `checkedSpace` takes them. */
const TEXT: JsonSchema = { type: "string", minLength: 1, maxLength: 253 };
const MESSAGE: JsonSchema = { type: "string", maxLength: 1024 };

const SPACE: JsonSchema = {
  type: "object",
  description: "A space, as its provider has it. No credentials: these are asked for apart.",
  required: ["name", "phase"],
  properties: {
    name: { ...NAME, description: "Its name. One name is one space, below one parent." },
    id: {
      ...TEXT,
      description:
        "Which one it is: one that is deleted and made again by its name has another. Without it they are not told apart.",
    },
    phase: {
      type: "string",
      enum: ["Initializing", "Ready"],
      description: "Ready: it answers. Initializing: it will, or does not any more, or not now.",
    },
    message: { ...MESSAGE, description: "Why it is not ready, for people. Nothing secret." },
    accessVersion: {
      ...TEXT,
      description: "Which kubeconfigs there are to it: another one when credentials are rotated.",
    },
    externalName: { ...TEXT, description: "What else it is called: clients find the Space by that." },
  },
};

const SPACE_LIST: JsonSchema = {
  type: "object",
  required: ["items"],
  properties: {
    items: { type: "array", items: SPACE, description: "In the order of their names, none twice." },
    continue: {
      type: "string",
      minLength: 1,
      maxLength: 1024,
      description: "There is more: the query parameter continue of the next page. A page that has it is not empty.",
    },
  },
};

const SPACE_REQUEST: JsonSchema = {
  type: "object",
  description: "What is wanted of a new space: nothing that this version has a word for.",
  maxProperties: 0,
};

const STATUS: JsonSchema = {
  type: "object",
  description: "Why something was not done, as Kubernetes says it (v1, Status).",
  required: ["kind", "apiVersion", "status", "message", "code"],
  properties: {
    kind: { type: "string", enum: ["Status"] },
    apiVersion: { type: "string", enum: ["v1"] },
    status: { type: "string", enum: ["Failure"] },
    message: { type: "string", description: "For people: it ends up in a condition. Nothing secret." },
    reason: { type: "string", description: "For programs: NotFound, Conflict, TooManyRequests…" },
    code: { type: "integer", minimum: 400, maximum: 599, description: "As the status line has it." },
    details: {
      type: "object",
      properties: {
        name: { type: "string", description: "The name of the space that it is about." },
        kind: { type: "string", description: "spaces, where it is about one." },
        retryAfterSeconds: { type: "integer", minimum: 0, description: "When to ask again, as Retry-After says." },
      },
    },
  },
};

const SPACE_EVENT: JsonSchema = {
  type: "object",
  description: "A line of a watch. A hint: what has become of the space is asked for.",
  required: ["type"],
  properties: {
    type: {
      type: "string",
      enum: ["CHANGED", "BOOKMARK", "ERROR"],
      description:
        "CHANGED: a space has come, gone or changed. BOOKMARK: none has, the stream is alive. ERROR: the stream ends, and status says why.",
    },
    name: { ...NAME, description: "Of CHANGED: which space. Without it: any." },
    status: { ...STATUS, description: "Of ERROR." },
  },
};

const PROVIDER_STATUS: JsonSchema = {
  type: "object",
  required: ["ready", "version", "capabilities"],
  properties: {
    ready: { type: "boolean", description: "Whether it can answer for its spaces. If not, all else is 503." },
    message: { ...MESSAGE, description: "Why it is not ready, for people. Nothing secret." },
    version: { ...TEXT, description: "Of the provider, for people." },
    capabilities: {
      type: "object",
      description: "What it is able to do. What it is not is 501.",
      required: ["create", "delete", "watch", "hierarchy"],
      properties: {
        create: { type: "boolean", description: "Whether it makes spaces." },
        delete: { type: "boolean", description: "Whether it deletes spaces." },
        watch: { type: "boolean", description: "Whether it says what changes. If not, it is listed again and again." },
        hierarchy: { type: "boolean", description: "Whether it has spaces below others: the parameter parent." },
      },
    },
  },
};

/** The bodies of the protocol, by their names in its document. */
export const SCHEMAS: Readonly<Record<BodyName, JsonSchema>> = {
  Space: SPACE,
  SpaceList: SPACE_LIST,
  SpaceRequest: SPACE_REQUEST,
  SpaceEvent: SPACE_EVENT,
  ProviderStatus: PROVIDER_STATUS,
  Status: STATUS,
};

const compiled = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [name, compileSchema(schema)]));

/** Why a value is no such body, by its first fault, which names the field; `undefined` of one that is. */
export function problemOf(name: BodyName, value: unknown): string | undefined {
  if (!isJsonObject(value)) return "it is no JSON object";
  const [cause] = compiled.get(name)?.validate(value) ?? [];
  return cause && formatCause(cause);
}

const names = new RegExp(NAME.pattern, "u");

/** Whether a space may be called so. */
export const isSpaceName = (name: unknown): name is string => typeof name === "string" && names.test(name);

/** What is said to those who call one otherwise. */
export const NAME_PROBLEM =
  "a name has 1 to 253 letters, digits, dashes, dots and underscores, and begins with no dash or dot";
