import type { JsonObject } from "../json/value.ts";
import type { KubeObject } from "../meta/types.ts";
import type { JsonSchema } from "../schema.ts";
import { applyFailure } from "./apply-error.ts";
import { typeProblem } from "./type-check.ts";
import { objectType, type ValueType } from "./value-type.ts";

/** Versions of a kind: their schemas, and the conversion between them. */
export interface VersionsOptions {
  /** Version of the given objects, `example.dev/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Schema of `apiVersion`. Default: none; types are then deduced from the values. */
  readonly schema?: JsonSchema | undefined;
  /** All other versions, each with its schema. Default: none. */
  readonly versions?: ReadonlyMap<string, JsonSchema | undefined>;
  /** Converts between versions. Default: only `apiVersion` changes, as with a CustomResourceDefinition's `None`. */
  readonly convert?: (object: KubeObject, apiVersion: string) => KubeObject;
}

/** Types of the versions of a kind, created on first use. */
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

  /** Type of the version of the given objects. */
  get type(): ValueType {
    return this.typeOf(this.apiVersion) ?? objectType(undefined);
  }

  /** Returns the type of a version; undefined if the version does not exist (any more). */
  typeOf(apiVersion: string): ValueType | undefined {
    const known = this.#types.get(apiVersion);
    if (known !== undefined || !this.#schemas.has(apiVersion)) return known;
    const type = objectType(this.#schemas.get(apiVersion));
    this.#types.set(apiVersion, type);
    return type;
  }

  /** Converts an object to an existing version. @throws ApiError 500 if the conversion fails */
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
