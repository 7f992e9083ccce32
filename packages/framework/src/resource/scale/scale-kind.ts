import {
  ApiError,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  normalizeMetadata,
} from "@virtual-workspaces/apimachinery";
import { AGE_COLUMN, type TableColumn } from "@virtual-workspaces/apimachinery/tables";
import type { ResourceDefinition } from "../../definition.ts";

const INT32 = { type: "integer", format: "int32" } as const;

const SCHEMA: JsonSchema = {
  type: "object",
  description: "Scale represents a scaling request for a resource.",
  properties: {
    spec: {
      type: "object",
      description: "Desired state.",
      properties: { replicas: { ...INT32, description: "Number of desired replicas; unset means 0." } },
    },
    status: {
      type: "object",
      description: "Observed state. Read-only.",
      required: ["replicas"],
      properties: {
        replicas: { ...INT32, description: "Number of existing replicas." },
        selector: {
          type: "string",
          description: "Label selector of the replicas, as text. Autoscalers find the replicas with it.",
        },
      },
    },
  },
};

const COLUMNS: readonly TableColumn[] = [
  { name: "Desired", type: "integer", description: "Number of desired replicas", jsonPath: ".spec.replicas" },
  { name: "Available", type: "integer", description: "Number of actual replicas", jsonPath: ".status.replicas" },
  AGE_COLUMN,
];

/** Kind that every `/scale` reads and writes, `autoscaling/v1` `Scale`, with Kubernetes' columns. */
export const SCALE: ResourceDefinition = Object.freeze({
  group: "autoscaling",
  version: "v1",
  kind: "Scale",
  listKind: "ScaleList",
  plural: "scales",
  singular: "scale",
  scope: "Namespaced",
  shortNames: [],
  categories: [],
  schema: SCHEMA,
  columns: COLUMNS,
  selectableFields: [],
  subresources: { status: false },
  gracePeriodSeconds: 0,
  hash: "autoscaling/v1/Scale",
});

/** Check of a member, and its description in errors. */
interface Shape {
  readonly fits: (value: unknown) => boolean;
  readonly words: string;
}

const REPLICAS: Shape = {
  fits: (value) => Number.isInteger(value) && (value as number) >= -(2 ** 31) && (value as number) < 2 ** 31,
  words: "an integer of 32 bits",
};
const TEXT: Shape = { fits: (value) => typeof value === "string", words: "a string" };
const MEMBERS: readonly string[] = ["apiVersion", "kind", "metadata", "spec", "status"];

/**
 * Normalizes a Scale in place, as Go reads and writes it. Removes null members, a replica count of 0, and unknown members,
 * whose names it returns.
 *
 * @throws ApiError 400 on a member of another type
 */
export function normalizeScale(object: JsonObject): string[] {
  const unknown: string[] = [];
  for (const name of Object.keys(object)) if (!MEMBERS.includes(name)) unknown.push(dropped(object, name, name));
  unknown.push(...normalizeMetadata(object));
  const spec = struct(object, "spec", { shapes: { replicas: REPLICAS }, unknown });
  if (spec["replicas"] === 0) delete spec["replicas"];
  const status = struct(object, "status", { shapes: { replicas: REPLICAS, selector: TEXT }, unknown });
  Object.assign(object, { spec, status: { ...status, replicas: status["replicas"] ?? 0 } });
  return unknown;
}

interface Struct {
  readonly shapes: Readonly<Record<string, Shape>>;
  readonly unknown: string[];
}

function struct(object: JsonObject, name: string, { shapes, unknown }: Struct): JsonObject {
  const value = object[name] ?? {};
  if (!isJsonObject(value)) throw malformed(name, "an object");
  for (const member of Object.keys(value)) {
    const path = `${name}.${member}`;
    const shape = Object.hasOwn(shapes, member) ? shapes[member] : undefined;
    if (shape === undefined) unknown.push(dropped(value, member, path));
    else if (value[member] === null) delete value[member];
    else if (!shape.fits(value[member])) throw malformed(path, shape.words);
  }
  return value;
}

function dropped(object: JsonObject, name: string, path: string): string {
  delete object[name];
  return path;
}

function malformed(path: string, what: string): ApiError {
  return ApiError.badRequest(`the object cannot be read: ${path} must be ${what}`);
}
