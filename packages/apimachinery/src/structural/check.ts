import { isJsonObject, type JsonObject } from "../json/value.ts";
import type { StatusCause } from "../meta/status.ts";
import { quote } from "../text/go-format.ts";
import { checkEnum, checkFormat, checkNumber, checkText, checkType } from "./check-scalar.ts";
import { OldItems, Unchanged } from "./correlate.ts";
import { Faults } from "./faults.ts";
import { ARRAY, INTEGER, kindOf, memberNode, NUMBER, OBJECT, type SchemaNode, TEXT } from "./node.ts";

/** Starting point of a validation. */
export interface CheckScope {
  /** Old value; `undefined` if there is none to compare with. */
  readonly old?: unknown;
  /** Prefix of every field in the causes. @default "" */
  readonly prefix?: string;
}

/**
 * Validates a value like kube-openapi's schema validator with CRDValidationRatcheting: faults of a value that is unchanged
 * from the old object are not errors. Inside `allOf`, `anyOf`, `oneOf` and `not` nothing is compared.
 */
export function checkValues(node: SchemaNode, value: unknown, { old, prefix = "" }: CheckScope): StatusCause[] {
  const faults = new Faults(node, prefix);
  new ValueCheck(faults).value(node, value, old);
  return faults.causes;
}

/**
 * Every method returns how many checks it made and passed, kube-openapi's match count. If all alternatives fail, the faults
 * of the one with the highest count are reported.
 */
class ValueCheck {
  readonly #faults: Faults;
  readonly #unchanged = new Unchanged();

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  value(node: SchemaNode, value: unknown, old: unknown): number {
    const { count } = this.#faults;
    const matches = this.#changed(node, value, old);
    if (old !== undefined && this.#faults.count > count && this.#unchanged.test(node, value, old))
      this.#faults.forget(count);
    return matches;
  }

  #changed(node: SchemaNode, value: unknown, old: unknown): number {
    if (value === null) return this.#null(node);
    const faults = this.#faults;
    const kind = kindOf(value);
    let matches = 2;
    if (node.typeText !== "" || node.format !== "") matches += checkType(faults, node, [value, kind]) ? 2 : 1;
    matches += node.logical ? this.#logic(node, value) : 2;
    if (kind === TEXT) {
      matches += node.textFormat === undefined ? 1 : 2;
      checkText(faults, node, value as string);
      checkFormat(faults, node, value as string);
    } else if (kind === INTEGER || kind === NUMBER) {
      matches += 2;
      if (node.number !== undefined) checkNumber(faults, node.number, value as number | bigint);
    } else if (kind === ARRAY) matches += 2 + this.#items(node, value as readonly unknown[], old);
    if (node.enum !== undefined) checkEnum(faults, node, value);
    if (kind === OBJECT) matches += 1 + this.#members(node, value as JsonObject, old);
    return matches;
  }

  #null(node: SchemaNode): number {
    const refused = node.typeText !== "" && !node.nullable;
    if (refused) this.#faults.type(node.typeText, "null");
    checkEnum(this.#faults, node, null);
    return refused ? 0 : 1;
  }

  #items(node: SchemaNode, list: readonly unknown[], old: unknown): number {
    const faults = this.#faults;
    let matches = 0;
    if (node.items !== undefined) {
      const oldItems = OldItems.of(node, old);
      for (let at = 0; at < list.length && !faults.full; at++) {
        faults.path.push(at);
        matches += this.value(node.items, list[at], oldItems?.find(list[at]));
        faults.path.pop();
      }
    }
    if (list.length < node.minItems) faults.breaks(list.length, `should have at least ${node.minItems} items`);
    if (list.length > node.maxItems) faults.tooMany(list.length, node.maxItems);
    return matches;
  }

  #members(node: SchemaNode, object: JsonObject, old: unknown): number {
    const faults = this.#faults;
    const names = Object.keys(object);
    if (names.length < node.minProperties)
      faults.breaks(names.length, `should have at least ${node.minProperties} properties`);
    if (names.length > node.maxProperties) faults.tooMany(names.length, node.maxProperties);
    let matches = 0;
    for (const name of names) {
      const member = memberNode(node, name);
      const value = object[name];
      if (member !== undefined && value !== undefined) {
        const oldValue = old === undefined ? undefined : this.#oldMember(old, name);
        faults.path.push(name);
        matches += this.value(member, value, oldValue);
        faults.path.pop();
      } else if (node.closed && value !== undefined) faults.notAllowed(name);
      if (faults.full) break;
    }
    for (const name of node.required)
      if (!Object.hasOwn(object, name) || object[name] === undefined) faults.missing(name);
    return matches;
  }

  /** The root's apiVersion and kind cannot be compared: both objects were converted to the same version. */
  #oldMember(old: unknown, name: string): unknown {
    if (this.#faults.path.length === 0 && (name === "apiVersion" || name === "kind")) return undefined;
    return isJsonObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;
  }

  #logic(node: SchemaNode, value: unknown): number {
    let matches = 2;
    if (node.anyOf.length > 0) matches += this.#anyOf(node.anyOf, value);
    if (node.oneOf.length > 0) matches += this.#oneOf(node.oneOf, value);
    if (node.allOf.length > 0) matches += this.#allOf(node.allOf, value);
    if (node.not !== undefined && this.#try(node.not, value) >= 0)
      this.#faults.composite((path) => `${quote(path)} must not validate the schema (not)`);
    return matches;
  }

  #anyOf(alternatives: readonly SchemaNode[], value: unknown): number {
    const best = new Best();
    for (const alternative of alternatives) {
      const tried = this.#try(alternative, value);
      if (tried >= 0) return tried;
      best.offer(alternative, ~tried);
    }
    this.#faults.composite((path) => `${quote(path)} must validate at least one schema (anyOf)`);
    return this.#explain(best, value);
  }

  #oneOf(alternatives: readonly SchemaNode[], value: unknown): number {
    const best = new Best();
    let [valid, first] = [0, 0];
    for (const alternative of alternatives) {
      const tried = this.#try(alternative, value);
      if (tried < 0) best.offer(alternative, ~tried);
      else if (valid++ === 0) first = tried;
    }
    if (valid === 1) return first;
    const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
    this.#faults.composite((path) => `${quote(path)} must validate one and only one schema (oneOf). ${found}`);
    return valid === 0 ? this.#explain(best, value) : 0;
  }

  #allOf(schemas: readonly SchemaNode[], value: unknown): number {
    let [matches, valid] = [0, 0];
    for (const schema of schemas) {
      const { count } = this.#faults;
      matches += this.#changed(schema, value, undefined);
      if (this.#faults.count === count) valid += 1;
    }
    const none = valid === 0 ? ". None validated" : "";
    if (valid < schemas.length)
      this.#faults.composite((path) => `${quote(path)} must validate all the schemas (allOf)${none}`);
    return matches;
  }

  /** Returns the match count of an alternative without reporting its faults; the complement of the count if the value is invalid. */
  #try(node: SchemaNode, value: unknown): number {
    const { count } = this.#faults;
    this.#faults.hush();
    const matches = this.#changed(node, value, undefined);
    const valid = this.#faults.count === count;
    this.#faults.forget(count);
    this.#faults.speak();
    return valid ? matches : ~matches;
  }

  /** Reports the faults of the best alternative, unless this is itself a try: it then takes linear time at any depth. */
  #explain({ node, matches }: Best, value: unknown): number {
    if (node !== undefined && !this.#faults.silent) this.#changed(node, value, undefined);
    return Math.max(matches, 0);
  }
}

/** First alternative with the highest match count. */
class Best {
  node: SchemaNode | undefined;
  matches = -1;

  offer(node: SchemaNode, matches: number): void {
    if (matches <= this.matches) return;
    this.node = node;
    this.matches = matches;
  }
}
