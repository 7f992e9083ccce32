import { resolve } from "node:path";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { KubeconfigOverrides } from "@virtual-workspaces/client";
import { goDuration } from "../flags/duration.ts";
import { type Parsed, parse, UsageError } from "../process/failure.ts";

/** kubectl's own, which all commands take. */
const KUBECTL = {
  kubeconfig: { type: "string" },
  context: { type: "string" },
  cluster: { type: "string" },
  user: { type: "string" },
  namespace: { type: "string", short: "n" },
  server: { type: "string", short: "s" },
  "tls-server-name": { type: "string" },
  "proxy-url": { type: "string" },
  "certificate-authority": { type: "string" },
  "insecure-skip-tls-verify": { type: "boolean" },
  token: { type: "string" },
  username: { type: "string" },
  password: { type: "string" },
  "client-certificate": { type: "string" },
  "client-key": { type: "string" },
  as: { type: "string" },
  "as-uid": { type: "string" },
  "as-group": { type: "string", multiple: true },
  "as-user-extra": { type: "string", multiple: true },
  "request-timeout": { type: "string" },
  v: { type: "string", short: "v" },
} as const;

/** kubectl's, which are about what this does not do: caches, profiles, logs, compression. */
const WITHOUT_EFFECT = {
  "cache-dir": { type: "string" },
  "disable-compression": { type: "boolean" },
  kuberc: { type: "string" },
  "log-flush-frequency": { type: "string" },
  "match-server-version": { type: "boolean" },
  profile: { type: "string" },
  "profile-output": { type: "string" },
  vmodule: { type: "string" },
  "warnings-as-errors": { type: "boolean" },
} as const;

/** Those of one command or another. */
const OWN = {
  workspace: { type: "string", short: "w" },
  direct: { type: "boolean" },
  short: { type: "boolean" },
  full: { type: "boolean", short: "f" },
  wide: { type: "boolean" },
  interactive: { type: "boolean", short: "i" },
  overwrite: { type: "boolean" },
  type: { type: "string" },
  enter: { type: "boolean" },
  "ignore-existing": { type: "boolean" },
  "location-selector": { type: "string" },
  "create-context": { type: "string" },
  mount: { type: "string" },
  recursive: { type: "boolean", short: "r" },
  output: { type: "string", short: "o" },
  selector: { type: "string", short: "l" },
  "all-namespaces": { type: "boolean", short: "A" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

const ALL: typeof KUBECTL & typeof WITHOUT_EFFECT & typeof OWN = { ...KUBECTL, ...WITHOUT_EFFECT, ...OWN };

export type OwnFlag = keyof typeof OWN;
export type Values = Parsed<typeof ALL>["values"];

/** A command line: words, and flags of all commands. */
export interface Line {
  readonly words: readonly string[];
  readonly values: Values;
}

/** What a command line says of the server to ask, as kubectl would. */
export interface Connection {
  readonly file: string | undefined;
  readonly context: string | undefined;
  readonly overrides: KubeconfigOverrides;
  /** For one request, ms; 0: as long as it takes. */
  readonly timeout: number;
}

/** @throws UsageError on a flag that there is not */
export function readLine(args: readonly string[]): Line {
  const { values, positionals } = parse(args.flatMap(asParsed), ALL);
  return { words: positionals, values };
}

/** Those flags that are for no command of kubectl's. */
export function ownFlagsIn(values: Values): readonly OwnFlag[] {
  return (Object.keys(OWN) as OwnFlag[]).filter((name) => values[name] !== undefined);
}

/** @throws UsageError on values that cannot be */
export function connectionOf(values: Values): Connection {
  const file = (name: "certificate-authority" | "client-certificate" | "client-key"): string | undefined =>
    values[name] && resolve(values[name]);
  return {
    file: values.kubeconfig && resolve(values.kubeconfig),
    context: values.context,
    timeout: timeoutOf(values["request-timeout"] ?? "0"),
    overrides: {
      context: given({ cluster: values.cluster, user: values.user, namespace: values.namespace }),
      cluster: given({
        server: values.server,
        "tls-server-name": values["tls-server-name"],
        "proxy-url": values["proxy-url"],
        "certificate-authority": file("certificate-authority"),
        "insecure-skip-tls-verify": values["insecure-skip-tls-verify"],
      }),
      user: given({
        token: values.token,
        username: values.username,
        password: values.password,
        "client-certificate": file("client-certificate"),
        "client-key": file("client-key"),
        as: values.as,
        "as-uid": values["as-uid"],
        "as-groups": values["as-group"] && [...values["as-group"]],
        "as-user-extra": values["as-user-extra"] && extraOf(values["as-user-extra"]),
      }),
    },
  };
}

/** Go's flags say `--wide=false`, `-v=6` and `-s=URL` too. */
function asParsed(arg: string): readonly string[] {
  const [, name = "", value = ""] = /^--([^=]+)=(.*)$/s.exec(arg) ?? [];
  const known = Object.hasOwn(ALL, name) ? ALL[name as keyof typeof ALL] : undefined;
  if (known?.type === "boolean") {
    if (/^(1|t|true)$/i.test(value)) return [`--${name}`];
    if (/^(0|f|false)$/i.test(value)) return [];
    throw new UsageError(`--${name}=${value}: give true or false`);
  }
  return [/^-[a-z]=/.test(arg) ? arg.replace("=", "") : arg];
}

function given(fields: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** `key=value`, a key again for more of its values. */
function extraOf(pairs: readonly string[]): JsonObject {
  const extra: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === undefined || value === undefined) throw new UsageError(`--as-user-extra ${pair}: give key=value`);
    extra[key] = [...(extra[key] ?? []), value];
  }
  return extra;
}

/** As kubectl takes it: seconds, or a duration. */
function timeoutOf(text: string): number {
  const duration = goDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (duration === undefined)
    throw new UsageError(`--request-timeout ${text}: give a time such as 1s, 2m or 3h; 0 is none`);
  return duration;
}
