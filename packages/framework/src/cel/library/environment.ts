import { Environment } from "@marcbachmann/cel-js";
import {
  AUTHORIZER,
  AuthorizerValue,
  DecisionValue,
  GroupCheck,
  PathCheck,
  ResourceCheck,
} from "../functions/authorizer.ts";
import { KUBERNETES } from "../functions/kubernetes.ts";
import { LISTS } from "../functions/lists.ts";
import { NamedFormat } from "../functions/named-formats.ts";
import { PATCHES } from "../functions/patches.ts";
import { type FunctionSpec, parseSignature, type Signature } from "../functions/signature.ts";
import { regexFunctions, STRINGS } from "../functions/strings.ts";
import { TIME } from "../functions/time.ts";
import { CONVERSIONS } from "../functions/type-conversions.ts";
import { compare, concat, equal, equalOwn } from "../values/compare.ts";
import { CelError } from "../values/formatted.ts";
import { Cidr, Ip } from "../values/ip-address.ts";
import { ObjectPartValue, ObjectValue, PatchValue } from "../values/object-value.ts";
import { Quantity } from "../values/quantity.ts";
import { Semver } from "../values/semver.ts";
import { type Shape, unescapeName } from "../values/shape.ts";
import { UrlValue } from "../values/url.ts";
import { registerMacros } from "./macros.ts";
import { JOIN, MAP, OWN, SAME } from "./node.ts";

const TYPES: Readonly<Record<string, abstract new (...args: never[]) => object>> = {
  Quantity,
  Url: UrlValue,
  Semver,
  Ip,
  Cidr,
  NamedFormat,
  PathCheck,
  GroupCheck,
  ResourceCheck,
  Decision: DecisionValue,
};

/** Types of expressions that evaluate to patches. */
const PATCH_TYPES: Readonly<Record<string, abstract new (...args: never[]) => object>> = {
  ObjectValue,
  ObjectPartValue,
  JSONPatch: PatchValue,
};

/** Prefixes of function names. Each is a value of its own type, and the functions are its methods. */
const NAMESPACES = ["format", "ip", "lists", "sets", "strings"] as const;

/** The library has no order of bytes. */
const BYTE_ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

/**
 * Creates the library's environment with the functions of Kubernetes 1.37. Variables are dynamic for evaluation; for type
 * checks they are declared in a clone.
 */
export function createEnvironment(): Environment {
  const environment = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 100_000, maxDepth: 200, maxListElements: 10_000, maxMapEntries: 10_000 },
  });
  for (const [name, ctor] of Object.entries(TYPES)) {
    environment.registerType(name, { ctor, fields: {} });
    environment.registerOperator(`${name} == ${name}`, equalOwn);
  }
  const fields = { requestResource: "ResourceCheck" };
  environment.registerType("Authorizer", { ctor: AuthorizerValue, fields });
  environment.registerOperator("Authorizer == Authorizer", equalOwn);
  for (const name of NAMESPACES) registerNamespace(environment, name);
  for (const spec of kubernetesFunctions()) register(environment, spec);
  for (const [sign, holds] of Object.entries(BYTE_ORDERS)) {
    environment.registerOperator(`bytes ${sign} bytes`, (a, b) => holds(compare(a, b)));
  }
  environment.registerOperator("optional<A> == optional<A>", equal);
  environment.registerFunction(`${SAME}(dyn, dyn): bool`, equal, { async: false });
  environment.registerFunction(`${JOIN}(dyn, dyn): dyn`, joined, { async: false });
  environment.registerFunction(`${MAP}(list<dyn>): map<dyn, dyn>`, mapOf, { async: false });
  registerMacros(environment);
  return environment;
}

/** Adds the types and functions of expressions that evaluate to patches. */
export function addPatches(environment: Environment): void {
  for (const [name, ctor] of Object.entries(PATCH_TYPES)) {
    environment.registerType(name, { ctor, fields: {} });
    environment.registerOperator(`${name} == ${name}`, equalOwn);
  }
  registerNamespace(environment, "jsonpatch");
  for (const spec of PATCHES) register(environment, spec);
}

/** Returns all callable functions that are not macros or correct library functions: `name/arguments`, receiver included. */
export function ownFunctions({ patches = false }: { readonly patches?: boolean } = {}): ReadonlySet<string> {
  const specs = [...kubernetesFunctions(), ...(patches ? PATCHES : [])];
  return new Set(specs.map(([text]) => callKey(parseSignature(text))));
}

/** Creates a map from alternating keys and values. */
function mapOf(flat: readonly unknown[]): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>();
  for (let at = 0; at < flat.length; at += 2) map.set(flat[at], flat[at + 1]);
  return map;
}

function joined(a: unknown, b: unknown): unknown {
  return concat(elements(a), elements(b));
}

function elements(list: unknown): Iterable<unknown> {
  if (Array.isArray(list) || list instanceof Set) return list;
  throw new CelError("no such overload");
}

function callKey({ name, member, params }: Signature): string {
  return `${member ? "." : ""}${name.replace(/^.*\./, "")}/${params.length - (member ? 1 : 0)}`;
}

function kubernetesFunctions(): FunctionSpec[] {
  return [CONVERSIONS, TIME, STRINGS, LISTS, KUBERNETES, AUTHORIZER, regexFunctions()].flat();
}

function registerNamespace(environment: Environment, name: string): void {
  const Namespace = { [name]: class {} }[name] ?? class {};
  environment.registerType(namespaceType(name), { ctor: Namespace, fields: {} });
  environment.registerConstant(name, namespaceType(name), new Namespace());
}

/** The type of optional values belongs to the library. */
function namespaceType(name: string): string {
  return name === "optional" ? "OptionalNamespace" : `${name}Namespace`;
}

function register(environment: Environment, [text, call]: FunctionSpec): void {
  const { name, member, params, result } = parseSignature(text);
  const [namespace, fn] = name.includes(".") ? name.split(".") : [undefined, name];
  if (namespace !== undefined) {
    const signature = `${namespaceType(namespace)}.${fn}${OWN}(${params.join(", ")}): ${result}`;
    environment.registerFunction(signature, (_, ...args) => call(...args), { async: false });
  } else {
    const [receiver, ...rest] = params;
    const signature = member ? `${receiver}.${fn}${OWN}(${rest.join(", ")})` : `${fn}${OWN}(${params.join(", ")})`;
    environment.registerFunction(`${signature}: ${result}`, call, { async: false });
  }
}

/** Types declared for a schema. */
interface Declared {
  /** Type of the whole value: `list<Object3>`. */
  readonly type: string;
  /** Fields of each object type. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
}

const LIBRARY_NAMES: Readonly<Record<string, string>> = {
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
};

/** Declares the types of a shape's objects. @param all types of the environment, to which these are added */
export function declareShape(
  environment: Environment,
  shape: Shape,
  all: Map<string, ReadonlySet<string>> = new Map(),
): Declared {
  const declare = ({ type, element, fields }: Shape): string => {
    if (type === "list" && element !== undefined) return `list<${declare(element)}>`;
    if (type === "map" && element !== undefined) return `map<string, ${declare(element)}>`;
    if (fields === undefined) return LIBRARY_NAMES[type] ?? type;
    const declared: Record<string, string> = Object.create(null);
    for (const [name, field] of fields) {
      declared[name] = declare(field);
      // A keyword can also be written unescaped.
      declared[/^__[a-z]+__$/.test(name) ? (unescapeName(name) ?? name) : name] = declared[name];
    }
    const name = `Object${all.size}`;
    environment.registerType(name, { ctor: class {}, fields: declared });
    environment.registerOperator(`${name} == ${name}`, () => true);
    environment.registerOperator(`${name} == null`, () => true);
    all.set(name, new Set(Object.keys(declared)));
    return name;
  };
  return { type: declare(shape), fields: all };
}
