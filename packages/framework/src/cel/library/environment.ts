import { Environment } from "@marcbachmann/cel-js";
import { CelError } from "../cel-error.ts";
import { CONVERSIONS } from "../functions/conversions.ts";
import { Cidr, Ip } from "../functions/ip-address.ts";
import { KUBERNETES } from "../functions/kubernetes.ts";
import { LISTS } from "../functions/lists.ts";
import { NamedFormat } from "../functions/named-formats.ts";
import { Quantity } from "../functions/quantity-value.ts";
import { regexFunctions } from "../functions/regex.ts";
import { Semver } from "../functions/semver-value.ts";
import { type FunctionSpec, parseSignature, type Signature } from "../functions/signature.ts";
import { STRINGS } from "../functions/strings.ts";
import { TIME } from "../functions/time.ts";
import { UrlValue } from "../functions/url-value.ts";
import { equal, equalOwn } from "../values/compare.ts";
import { concat } from "../values/keyed.ts";
import { registerMacros } from "./macros.ts";

const TYPES: Readonly<Record<string, abstract new (...args: never[]) => object>> = {
  Quantity,
  Url: UrlValue,
  Semver,
  Ip,
  Cidr,
  NamedFormat,
};
/** What is written before a function's name: each is a value of a type of its own, whose methods the functions are. */
const NAMESPACES = ["format", "ip", "lists", "sets", "strings"] as const;

/** Calls of these are ours, since the library's own cannot be replaced: they are registered under a name with this end. */
export const OWN = "_k8s";

/**
 * The library with the functions of Kubernetes 1.37. Nothing is known of variables: for evaluation they are dynamic, for
 * checking they are declared in a clone.
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
  for (const name of NAMESPACES) registerNamespace(environment, name);
  for (const spec of kubernetesFunctions()) register(environment, spec);
  environment.registerFunction(`same${OWN}(dyn, dyn): bool`, equal, { async: false });
  environment.registerFunction(`concat${OWN}(dyn, dyn): dyn`, joined, { async: false });
  registerMacros(environment);
  return environment;
}

/** All that may be called besides macros and what the library does right: `name/arguments`, with what it is called on. */
export function ownFunctions(): ReadonlySet<string> {
  return new Set(kubernetesFunctions().map(([text]) => callKey(parseSignature(text))));
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
  return [CONVERSIONS, TIME, STRINGS, LISTS, KUBERNETES, regexFunctions()].flat();
}

function registerNamespace(environment: Environment, name: string): void {
  const Namespace = { [name]: class {} }[name] ?? class {};
  environment.registerType(namespaceType(name), { ctor: Namespace, fields: {} });
  environment.registerConstant(name, namespaceType(name), new Namespace());
}

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
