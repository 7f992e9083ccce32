import { cloneJson, isJsonObject, type JsonObject, setMember } from "../json/value.ts";
import { boundedCauses, type Causes } from "../meta/field-cause.ts";
import type { StatusCause } from "../meta/status.ts";
import type { JsonSchema } from "../schema.ts";
import { checkValues } from "./check.ts";
import { compileNode } from "./compile-node.ts";
import { checkEmbedded, coerceEmbedded } from "./embedded.ts";
import { checkListTypes } from "./list-types.ts";
import { memberNode, nativePattern, type PatternCompiler, type SchemaNode } from "./node.ts";
import { pruneNulls, pruneValue } from "./prune-fields.ts";
import { type RuleSite, walkRules } from "./rules.ts";

/** What a schema is compiled with. */
export interface CompileOptions {
  /**
   * Makes a test of texts out of a regular expression. Give one that takes linear time whenever the schema is a
   * stranger's: the default is ECMAScript's own, with flag `u`, which a pattern can keep busy for ever.
   */
  readonly pattern?: PatternCompiler;
}

/**
 * Prepares a schema for the objects of a kind. It is expected to be sane: see {@link structuralProblems}.
 *
 * @throws SyntaxError, or what `pattern` throws, on a regular expression that is none
 */
export function compileSchema(schema: JsonSchema, options: CompileOptions = {}): StructuralSchema {
  return new StructuralSchema(schema, options);
}

/** A schema of a kind, prepared: what an API server does with objects before it keeps them, in this order. */
export class StructuralSchema {
  readonly schema: JsonSchema;
  readonly #node: SchemaNode;

  /** Use {@link compileSchema}. */
  constructor(schema: JsonSchema, { pattern = nativePattern }: CompileOptions) {
    this.schema = schema;
    this.#node = compileNode(schema, { pattern });
  }

  /** Whether there are `x-kubernetes-validations` anywhere. */
  get hasRules(): boolean {
    return this.#node.tasks.rules;
  }

  /**
   * Makes an object what its schema says it is, in place: unknown fields go, and null where it means missing; metadata of
   * embedded resources becomes an ObjectMeta. The object's own apiVersion, kind and metadata are left alone.
   *
   * @returns the paths of the fields that were unknown, for field validation: `spec.list[0].bar`
   * @throws ApiError 400 on an embedded resource whose type or metadata cannot be read
   */
  prune(object: JsonObject): string[] {
    const unknown = pruneValue(object, this.#node, true);
    pruneNulls(object, this.#node);
    return [...unknown, ...coerceEmbedded(this.#node, object)];
  }

  /** Removes unknown fields and nothing else: what has been applied may hold null, which is then a fault. */
  pruneUnknown(object: JsonObject): void {
    pruneValue(object, this.#node, true);
  }

  /** Sets what is missing to its default, in place. */
  setDefaults(object: JsonObject): void {
    setDefaults(object, this.#node);
  }

  /**
   * What is wrong with an object, in Kubernetes' words: its values, its embedded resources, and lists that are sets or
   * maps. Its own metadata, and `x-kubernetes-validations`, are checked elsewhere.
   *
   * @param old What the object was: where a value is unchanged it may stay wrong (CRDValidationRatcheting)
   * @returns up to a thousand causes
   */
  validate(object: JsonObject, old?: JsonObject): StatusCause[] {
    return boundedCauses(this.#problems(object, old));
  }

  *#problems(object: JsonObject, old: JsonObject | undefined): Causes {
    yield* checkValues(this.#node, object, { old });
    yield* checkEmbedded(this.#node, object);
    yield* this.#checkLists(object, old);
  }

  /** As {@link validate}, for a write of the status alone: what is wrong elsewhere does not matter, but for lists. */
  validateStatus(object: JsonObject, old: JsonObject): StatusCause[] {
    return boundedCauses(this.#statusProblems(object, old));
  }

  *#statusProblems(object: JsonObject, old: JsonObject): Causes {
    const node = this.#node.properties?.get("status");
    if (node !== undefined && object["status"] !== undefined)
      yield* checkValues(node, object["status"], { old: old["status"], prefix: "status" });
    yield* this.#checkLists(object, old);
  }

  /** Where `x-kubernetes-validations` apply, and to what: parents first, members in the object's order. */
  rules(object: JsonObject, old?: JsonObject): Iterable<RuleSite> {
    return walkRules(this.#node, object, { old });
  }

  /** Lists that had a fault before may keep it, or have another. */
  #checkLists(object: JsonObject, old: JsonObject | undefined): StatusCause[] {
    const causes = checkListTypes(this.#node, object);
    return causes.length > 0 && old !== undefined && checkListTypes(this.#node, old).length > 0 ? [] : causes;
  }
}

/**
 * Sets what is missing, or null where the schema does not allow it, to the schema's default, in place and at every level,
 * within defaults too (apiextensions' defaulting.Default). What is set is a copy.
 */
function setDefaults(value: unknown, node: SchemaNode): void {
  if (!node.tasks.defaults) return;
  if (Array.isArray(value)) {
    if (node.items !== undefined) setItemDefaults(value, node.items);
  } else if (isJsonObject(value)) setMemberDefaults(value, node);
}

function setItemDefaults(list: unknown[], node: SchemaNode): void {
  for (const [at, item] of list.entries()) {
    if (item === null && !node.nullable) list[at] = cloneJson(node.default ?? null);
    setDefaults(list[at], node);
  }
}

function setMemberDefaults(object: JsonObject, node: SchemaNode): void {
  for (const [name, member] of node.defaulted) {
    const missing = !Object.hasOwn(object, name) || object[name] === undefined;
    if (missing || (object[name] === null && !member.nullable)) setMember(object, name, cloneJson(member.default));
  }
  for (const name of Object.keys(object)) {
    const member = memberNode(node, name);
    if (member === undefined) continue;
    if (object[name] === null && !member.nullable && member.default !== undefined)
      setMember(object, name, cloneJson(member.default));
    setDefaults(object[name], member);
  }
}
