import {
  fieldInvalid,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type KubeObject,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { memberOf, setMember } from "@virtual-workspaces/apimachinery/json";
import type { ScalePaths } from "../../definition.ts";

/** Fields of a kind that its `/scale` shows. */
export interface ScaleFields {
  readonly wanted: ScaleField;
  readonly present: ScaleField;
  readonly selector: ScaleField | undefined;
}

/** @throws Error on a path that Kubernetes rejects (apiextensions' ValidateCustomResourceDefinitionSubresources) */
export function scaleFields({ specReplicasPath, statusReplicasPath, labelSelectorPath = "" }: ScalePaths): ScaleFields {
  return {
    wanted: new ScaleField(specReplicasPath, "specReplicasPath", ["spec"]),
    present: new ScaleField(statusReplicasPath, "statusReplicasPath", ["status"]),
    selector:
      labelSelectorPath === "" ? undefined : new ScaleField(labelSelectorPath, "labelSelectorPath", ["spec", "status"]),
  };
}

/** Maximum number of replicas that a Scale can express. */
const MOST = 2 ** 31 - 1;

/** Returns the errors that keep `/scale` from showing an object. A write of the status checks only the fields of the status. */
export function scaleProblems(object: KubeObject, fields: ScaleFields, part: string): StatusCause[] {
  const { wanted, present, selector } = fields;
  return [
    ...(part === "status" ? [] : replicasProblems(object, wanted)),
    ...replicasProblems(object, present),
    ...(selector === undefined ? [] : reading(selector, "", () => selector.readText(object)).causes),
  ];
}

function replicasProblems(object: KubeObject, field: ScaleField): StatusCause[] {
  const { causes, value = 0 } = reading(field, 0, () => field.readInteger(object));
  if (value < 0) return [fieldInvalid(field.path, value, "should be a non-negative integer")];
  if (value > MOST) return [fieldInvalid(field.path, value, `should be less than or equal to ${MOST}`)];
  return causes;
}

interface Reading<T> {
  readonly value?: T | undefined;
  readonly causes: StatusCause[];
}

/** @param nothing value in the error when the field cannot be read, as in Kubernetes */
function reading<T>(field: ScaleField, nothing: T, read: () => T | undefined): Reading<T> {
  try {
    return { value: read(), causes: [] };
  } catch (error) {
    if (!(error instanceof ScaleFieldError)) throw error;
    return { causes: [fieldInvalid(field.path, nothing, error.message)] };
  }
}

/** One of the fields that `/scale` shows, at its place in the kind. */
export class ScaleField {
  /** Path as the author gave it: `.spec.replicas`. */
  readonly path: string;
  /** Names along the path. */
  readonly names: readonly string[];

  /** @throws Error on a path that is not plain names below one of `roots` */
  constructor(path: string, option: string, roots: readonly string[]) {
    const [start, ...names] = path.split(".");
    const under = roots.map((root) => `.${root}`).join(" or ");
    if (start !== "" || names.length < 2 || !names.every((name) => NAME.test(name)) || !roots.includes(names[0] ?? ""))
      throw new Error(
        `subresources.scale.${option} ${JSON.stringify(path)} must be a path of plain names under ${under}`,
      );
    this.path = path;
    this.names = names;
  }

  /** Returns the value, or `undefined` when it or a part of the path is missing. @throws ScaleFieldError */
  read(object: JsonObject): unknown {
    let value: unknown = object;
    for (const name of this.names) {
      if (value === null || value === undefined) return undefined;
      if (!isJsonObject(value)) throw this.#mistyped(value, "map[string]interface{}");
      value = memberOf(value, name);
    }
    return value;
  }

  /** Returns a number of replicas. @throws ScaleFieldError when the value is no integer */
  readInteger(object: JsonObject): number | undefined {
    const value = this.read(object);
    if (typeof value === "bigint") return Number(value);
    if (value === undefined || (typeof value === "number" && Number.isInteger(value))) return value;
    throw this.#mistyped(value, "int64");
  }

  /** @throws ScaleFieldError when the value is no string */
  readText(object: JsonObject): string | undefined {
    const value = this.read(object);
    if (value === undefined || typeof value === "string") return value;
    throw this.#mistyped(value, "string");
  }

  /** Sets the value in place and creates missing parts of the path. @throws ScaleFieldError when a part is no object */
  write(object: JsonObject, value: unknown): void {
    let at = object;
    for (const name of this.names.slice(0, -1)) {
      const next = memberOf(at, name) ?? {};
      if (!isJsonObject(next)) throw this.#mistyped(next, "map[string]interface{}");
      setMember(at, name, next);
      at = next;
    }
    setMember(at, this.names.at(-1) ?? "", value);
  }

  #mistyped(value: unknown, expected: string): ScaleFieldError {
    const shown = typeof value === "object" ? JSON.stringify(value) : String(value);
    return new ScaleFieldError(
      `${this.path} accessor error: ${shown} is of the type ${goType(value)}, expected ${expected}`,
    );
  }
}

const NAME = /^[^.[\]'"\\*?@()\s]+$/;

/** Error about a value of the wrong type in a field that a Scale shows. */
export class ScaleFieldError extends Error {
  override readonly name: string = "ScaleFieldError";
}

function goType(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    case "bigint":
      return "int64";
    default:
      return "map[string]interface {}";
  }
}

/**
 * Checks that the schema has the field of the replicas: a misspelled one would be dropped from every object.
 *
 * @throws Error when the schema has no such integer
 */
export function checkScaled(schema: JsonSchema, { path, names }: ScaleField): void {
  let at: JsonSchema | undefined = schema;
  for (const name of names) {
    const open: boolean = at["x-kubernetes-preserve-unknown-fields"] === true;
    const { properties = {}, additionalProperties }: JsonSchema = at;
    const every: JsonSchema | undefined = typeof additionalProperties === "object" ? additionalProperties : undefined;
    at = Object.hasOwn(properties, name) ? properties[name] : every;
    if (at === undefined && (open || additionalProperties === true)) return;
    if (at === undefined) break;
  }
  if (at?.type === "integer" || at?.type === "number") return;
  throw new Error(`subresources.scale.specReplicasPath ${JSON.stringify(path)} must lead to an integer of the schema`);
}
