import {
  BoundedCauses,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
} from "../meta/field-cause.ts";
import type { StatusCause } from "../meta/status.ts";
import { quote } from "../text/go-format.ts";
import type { EnumCheck } from "./constraints.ts";
import type { SchemaNode } from "./node.ts";

/**
 * Faults that a validation found, in the words of kube-openapi's errors as apiextensions returns them. Alternatives of a
 * schema are tried silently: their faults are only counted, because a value that fails one alternative may still be valid.
 */
export class Faults {
  /** Current position of the validation; members by name, items by index. */
  readonly path: (string | number)[] = [];
  readonly #root: SchemaNode;
  /** Prefix of every field: "status" if only the status is validated. */
  readonly #prefix: string;
  readonly #causes = new BoundedCauses();
  #count = 0;
  #silent = 0;

  constructor(root: SchemaNode, prefix: string) {
    this.#root = root;
    this.#prefix = prefix;
  }

  /** Number of faults so far, including silent ones. */
  get count(): number {
    return this.#count;
  }

  /** Whether the limit on causes is reached. */
  get full(): boolean {
    return this.#causes.full;
  }

  get silent(): boolean {
    return this.#silent > 0;
  }

  /** Causes without duplicates, as in kube-openapi's results. */
  get causes(): StatusCause[] {
    const { items } = this.#causes;
    if (items.length < 2) return items;
    return [...new Map(items.map((cause) => [`${cause.field}\0${cause.message}`, cause])).values()];
  }

  /** Drops all faults after the first `count`. */
  forget(count: number): void {
    this.#count = count;
    if (this.#silent === 0) this.#causes.truncate(count);
  }

  /** Counts faults silently until {@link speak}. */
  hush(): void {
    this.#silent += 1;
  }

  speak(): void {
    this.#silent -= 1;
  }

  type(expected: string, actual: string): void {
    if (!this.#counts()) return;
    const path = this.#where();
    this.#add(fieldTypeInvalid(this.#field(), actual, `${path} in body must be of type ${expected}: ${quote(actual)}`));
  }

  notListed(value: unknown, { texts }: EnumCheck): void {
    if (this.#counts()) this.#add(fieldNotSupported(this.#field(), value, texts));
  }

  /** Reports a broken rule of a scalar, or of a count: `should be at least 2 chars long`. */
  breaks(value: unknown, rule: string): void {
    if (this.#counts()) this.#add(fieldInvalid(this.#field(), value, `${this.#where()} in body ${rule}`));
  }

  /** Like {@link breaks}, for a rule whose text contains the path. */
  says(value: unknown, words: (path: string) => string): void {
    if (this.#counts()) this.#add(fieldInvalid(this.#field(), value, words(this.#where())));
  }

  tooLong(most: number): void {
    if (this.#counts()) this.#add(fieldTooLong(this.#field(), most));
  }

  tooMany(count: number, most: number): void {
    if (this.#counts()) this.#add(fieldTooMany(this.#field(), count, most));
  }

  missing(name: string): void {
    if (!this.#counts()) return;
    this.path.push(name);
    this.#add(fieldRequired(this.#field()));
    this.path.pop();
  }

  notAllowed(name: string): void {
    if (!this.#counts()) return;
    this.#add(fieldInvalid(this.#field(), name, `${this.#where()}.${name} in body is a forbidden property`));
  }

  /** Reports a fault of the whole value, for which Kubernetes gives no field. */
  composite(words: (path: string) => string): void {
    if (!this.#counts()) return;
    this.#add(fieldInvalid(this.#prefix === "" ? "<nil>" : this.#prefix, "", words(this.#where())));
  }

  /** Counts a fault. Returns whether to report it. */
  #counts(): boolean {
    this.#count += 1;
    return this.#silent === 0;
  }

  #add(cause: StatusCause): void {
    this.#causes.add([cause]);
  }

  #field(): string {
    const path = this.#where();
    const field = path.startsWith(".") ? path.slice(1) : path;
    if (this.#prefix === "") return field === "" ? "<nil>" : field;
    return field === "" ? this.#prefix : `${this.#prefix}.${field}`;
  }

  /** kube-openapi writes a dot before every member except declared properties of the root; members of a root map have one. */
  #where(): string {
    let path = "";
    for (const [at, step] of this.path.entries()) {
      if (typeof step === "number") path += `[${step}]`;
      else path += at === 0 && (this.#root.properties?.has(step) ?? false) ? step : `.${step}`;
    }
    return path;
  }
}
