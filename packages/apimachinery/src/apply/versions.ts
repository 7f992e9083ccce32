import type { JsonObject } from "../json/value.ts";
import type { KubeObject } from "../meta/types.ts";
import type { JsonSchema } from "../schema.ts";
import { applyFailure } from "./apply-error.ts";
import { typeProblem } from "./type-check.ts";
import { objectType, type ValueType } from "./value-type.ts";

/** The versions of a kind: their schemas, and the way between them. */
export interface VersionsOptions {
  /** The version that objects are given in, `example.dev/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** The schema of `apiVersion`. Default: none; then all is deduced from the values. */
  readonly schema?: JsonSchema | undefined;
  /** Every other version that there is, with its schema. Default: none. */
  readonly versions?: ReadonlyMap<string, JsonSchema | undefined>;
  /** Converts between versions. Default: only `apiVersion` changes, as with a CustomResourceDefinition's `None`. */
  readonly convert?: (object: KubeObject, apiVersion: string) => KubeObject;
}

/** Types of the versions of a kind, made when they are first needed. */
export class Versions {
  readonly apiVersion: string;
  readonly kind: string;
  readonly #schemas: ReadonlyMap<string, JsonSchema | undefined>;
  readonly #types = new Map<string, ValueType>();
  readonly #convert: (object: KubeObject, apiVersion: string) => KubeObject;

  constructor({ apiVersion, kind, schema, versions, convert }: VersionsOptions) {
    this.apiVersion = apiVersion;
    this.kind = kind;
    this.#schemas = new Map([...(versions ?? []), [apiVersion, schema]]);
    this.#convert = convert ?? ((object, version) => ({ ...object, apiVersion: version }));
  }

  /** The type of the version that objects are given in. */
  get type(): ValueType {
    return this.typeOf(this.apiVersion) ?? objectType(undefined);
  }

  /** The type of a version; undefined if there is no such version (any more). */
  typeOf(apiVersion: string): ValueType | undefined {
    const known = this.#types.get(apiVersion);
    if (known !== undefined || !this.#schemas.has(apiVersion)) return known;
    const type = objectType(this.#schemas.get(apiVersion));
    this.#types.set(apiVersion, type);
    return type;
  }

  /** An object in a version that there is. @throws ApiError 500 if it cannot be converted */
  convert(object: JsonObject, apiVersion: string): JsonObject {
    if (object["apiVersion"] === apiVersion) return object;
    let converted: KubeObject;
    try {
      converted = this.#convert(object as KubeObject, apiVersion);
    } catch (error) {
      throw applyFailure(`failed to convert object to ${apiVersion}: ${messageOf(error)}`, error);
    }
    const problem = typeProblem(converted, this.typeOf(apiVersion) ?? this.type, { allowDuplicates: false });
    if (problem !== undefined) throw applyFailure(`failed to convert object to ${apiVersion}: ${problem}`);
    return converted;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
