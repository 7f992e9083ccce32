import { callOf, HAS, MACRO_VARIABLES, type Node, typeOf } from "../library/node.ts";
import { codePoints } from "../values/formatted.ts";
import type { Shape } from "../values/shape.ts";
import { callCost, macroCost, operatorCost } from "./calls.ts";
import { realCost, realOperatorCost } from "./heavy.ts";
import { type Caps, type Estimate, type Estimation, ONE, type Size, sum, UNKNOWN } from "./size.ts";

const LIST_COST = 10;
const MAP_COST = 30;
const PLAIN = new Set(["bool", "double", "int", "null", "string", "uint"]);
const SCALARS = new Set(["bool", "double", "google.protobuf.Duration", "int", "google.protobuf.Timestamp", "uint"]);

/** Estimates the cost of an expression from the declared sizes of its inputs, as cel-go does. */
export function estimateCost(root: Node, self: Shape, caps?: Caps): number {
  return new Estimator(self, caps).of(root).cost;
}

class Estimator implements Estimation {
  readonly #names = new Map<string, Estimate>();
  readonly #self: Shape;
  readonly #caps: Caps | undefined;

  constructor(self: Shape, caps: Caps | undefined) {
    this.#self = self;
    this.#caps = caps;
    const value = this.inside(self);
    this.#names.set("self", value);
    this.#names.set("oldSelf", value);
  }

  of(node: Node): Estimate {
    switch (node.op) {
      case "value":
        return { cost: 0, size: literalSize(node.args) };
      case "id":
        return { ...(this.#names.get(node.args) ?? this.#unnamed()), cost: 1 };
      case ".":
        return this.#field(node.args[0], node.args[1]);
      case ".?":
        return { ...this.#field(node.args[0], node.args[1]), cost: this.of(node.args[0]).cost + 1 };
      case "[]":
      case "[?]": {
        const [container, index] = node.args.map((arg) => this.of(arg));
        return { ...this.elementOf(container), cost: sum([container, index]) + 1 };
      }
      case "list":
        return this.#list(node.args);
      case "map": {
        const entries = node.args.map(([key, value]) => ({ key: this.of(key), value: this.of(value) }));
        const cost = MAP_COST + sum(entries.flatMap(({ key, value }) => [key, value]));
        return { cost, size: exactly(entries.length), element: union(entries.map(({ value }) => value)) };
      }
      case "?:": {
        const [condition, yes, no] = node.args.map((arg) => this.of(arg));
        return { ...union([yes, no]), cost: (condition?.cost ?? 0) + Math.max(yes?.cost ?? 0, no?.cost ?? 0) };
      }
      case "&&":
      case "||":
        return { cost: sum(node.args.map((arg) => this.of(arg))), size: ONE };
      case "!_":
      case "-_":
        return { cost: this.of(node.args).cost + 1, size: ONE };
      case "call":
      case "rcall":
        return this.#call(node);
      default:
        return this.#operator(node.op, node.args);
    }
  }

  #operator(operator: string, [left, right]: readonly [Node, Node]): Estimate {
    const types = [typeOf(left), typeOf(right)];
    const operands = [this.of(left), this.of(right)];
    const estimate = operatorCost(operator, types, operands);
    if (this.#caps === undefined || types.some((type) => PLAIN.has(type))) return estimate;
    return { ...estimate, cost: estimate.cost + realOperatorCost(operator, { operands, estimate, caps: this.#caps }) };
  }

  /** Whether the estimate is for a given object. */
  get capped(): boolean {
    return this.#caps !== undefined;
  }

  /** Size of map keys, which Kubernetes assumes to be empty. */
  get keySize(): Size {
    return { min: 0, max: this.#caps?.text ?? 0 };
  }

  /** Estimates an expression with bound names. */
  with(names: readonly (readonly [string, Estimate])[], node: Node): Estimate {
    const before = names.map(([name]) => [name, this.#names.get(name)] as const);
    for (const [name, value] of names) this.#names.set(name, value);
    const estimate = this.of(node);
    for (const [name, value] of before) {
      if (value === undefined) this.#names.delete(name);
      else this.#names.set(name, value);
    }
    return estimate;
  }

  /** Returns the estimate of a part of the object. */
  inside(shape: Shape): Estimate {
    const cap = shape.type === "list" || shape.type === "map" ? this.#caps?.list : this.#caps?.text;
    return { cost: 0, size: { min: 0, max: Math.min(shape.max, cap ?? shape.max) }, shape };
  }

  elementOf(container: Estimate | undefined): Estimate {
    const shape = container?.shape?.element;
    return shape === undefined ? (container?.element ?? this.#unnamed()) : this.inside(shape);
  }

  /**
   * Returns the estimate of a computed value. Kubernetes takes the size of `self`, which is 0 for objects; for a given object
   * the size is unknown.
   */
  #unnamed(): Estimate {
    return this.#caps === undefined ? this.inside(this.#self) : { cost: 0, size: undefined };
  }

  #field(operand: Node, name: string): Estimate {
    const target = this.of(operand);
    const type = typeOf(operand);
    const cost = target.cost + (type === "dyn" || type.startsWith("optional") ? 0 : 1);
    // Kubernetes has no size for values that are selected from a map by name.
    if (this.#caps === undefined && target.shape !== undefined && !target.shape.fields?.has(name))
      return { cost, size: undefined };
    const shape = target.shape?.fields?.get(name) ?? target.shape?.element;
    return { ...(shape === undefined ? (target.element ?? this.#unnamed()) : this.inside(shape)), cost };
  }

  #list(elements: readonly Node[]): Estimate {
    const estimates = elements.map((element) => this.of(element));
    return { cost: LIST_COST + sum(estimates), size: exactly(elements.length), element: union(estimates) };
  }

  #call(node: Node): Estimate {
    const call = callOf(node);
    if (call === undefined) return { cost: 0, size: undefined };
    const { name, target, args } = call;
    if (target !== undefined && MACRO_VARIABLES.has(`${name}/${args.length}`)) {
      return macroCost(this, { name, target, args });
    }
    if (name === HAS && args[0]?.op === ".") return { cost: this.of(args[0].args[0]).cost, size: ONE };
    const given = [...(target === undefined ? [] : [target]), ...args];
    const estimates = given.map((arg) => this.of(arg));
    const types = given.map(typeOf);
    const estimate = callCost(name, estimates, types);
    const known = estimate.size === undefined && SCALARS.has(typeOf(node)) ? { ...estimate, size: ONE } : estimate;
    return this.#caps === undefined
      ? known
      : realCost({ name, given, types, estimates, estimate: known, caps: this.#caps });
  }
}

/** Merges the estimates of alternative values. */
function union(estimates: readonly (Estimate | undefined)[]): Estimate {
  const sizes = estimates.map((estimate) => estimate?.size ?? UNKNOWN);
  const [first] = estimates;
  return {
    cost: 0,
    size: { min: Math.min(...sizes.map(({ min }) => min)), max: Math.max(0, ...sizes.map(({ max }) => max)) },
    shape: first?.shape,
    element: first?.element,
  };
}

function exactly(size: number): Size {
  return { min: size, max: size };
}

function literalSize(value: unknown): Size {
  if (typeof value === "string") return exactly(codePoints(value));
  return exactly(value instanceof Uint8Array ? value.length : 1);
}
