import { type JsonObject, type KubeObject, quote } from "@virtual-workspaces/apimachinery";
import type { CrdSpec, CrdStatus } from "../definition/definition.ts";
import { decode, type Found, type Shape } from "./decode.ts";
import { SCHEMA, TEXTS } from "./schema.ts";

const TEXT: Shape = { is: "string" };
const FLAG: Shape = { is: "bool" };

function struct(fields: Readonly<Record<string, Shape>>, always: readonly string[] = []): Shape {
  return { is: "struct", fields, always };
}

function list(shape: Shape): Shape {
  return { is: "list", of: () => shape };
}

const NAMES = struct(
  { plural: TEXT, singular: TEXT, shortNames: TEXTS, kind: TEXT, listKind: TEXT, categories: TEXTS },
  ["plural", "kind"],
);

const SCALE = struct({ specReplicasPath: TEXT, statusReplicasPath: TEXT, labelSelectorPath: { is: "string?" } }, [
  "specReplicasPath",
  "statusReplicasPath",
]);

const COLUMN = struct(
  { name: TEXT, type: TEXT, format: TEXT, description: TEXT, priority: { is: "int?" }, jsonPath: TEXT },
  ["name", "type", "jsonPath"],
);

const VERSION = struct(
  {
    name: TEXT,
    served: FLAG,
    storage: FLAG,
    deprecated: FLAG,
    deprecationWarning: { is: "string?" },
    schema: struct({ openAPIV3Schema: SCHEMA }),
    subresources: struct({ status: struct({}), scale: SCALE }),
    additionalPrinterColumns: list(COLUMN),
    selectableFields: list(struct({ jsonPath: TEXT }, ["jsonPath"])),
  },
  ["name", "served", "storage"],
);

const SERVICE = struct({ namespace: TEXT, name: TEXT, path: { is: "string?" }, port: { is: "int?" } }, [
  "namespace",
  "name",
]);
const WEBHOOK = struct({
  clientConfig: struct({ url: { is: "string?" }, service: SERVICE, caBundle: TEXT }),
  conversionReviewVersions: TEXTS,
});

const SPEC = struct(
  {
    group: TEXT,
    names: NAMES,
    scope: TEXT,
    versions: list(VERSION),
    conversion: struct({ strategy: TEXT, webhook: WEBHOOK }, ["strategy"]),
    preserveUnknownFields: FLAG,
  },
  ["group", "names", "scope", "versions"],
);

const CONDITION = struct(
  { type: TEXT, status: TEXT, lastTransitionTime: { is: "string?" }, reason: TEXT, message: TEXT },
  ["type", "status"],
);
const STATUS = struct({ conditions: list(CONDITION), acceptedNames: NAMES, storedVersions: TEXTS });

/** Decoded CustomResourceDefinition, with warnings about unknown fields. */
export interface Decoded {
  readonly spec: CrdSpec;
  readonly status: CrdStatus | undefined;
  /** Texts of Warning headers. */
  readonly warnings: readonly string[];
}

/** Decodes spec and status as Kubernetes' decoder does. @throws ApiError 400 on a field of another type */
export function decodeCrd(object: KubeObject): Decoded {
  const { spec, status } = object as unknown as JsonObject;
  const found: Found = { unknown: [] };
  const read = decode(spec ?? {}, SPEC, { path: "spec", found }) as unknown as CrdSpec;
  const now = decode(status, STATUS, { path: "status", found }) as unknown as CrdStatus | undefined;
  return { spec: read, status: now, warnings: found.unknown.map((path) => `unknown field ${quote(path)}`) };
}
