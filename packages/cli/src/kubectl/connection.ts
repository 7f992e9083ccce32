import { resolve } from "node:path";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { KubeconfigOverrides } from "@virtual-workspaces/client";
import { goDuration } from "../flags/duration.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import type { KUBECTL_FLAGS } from "./flags.ts";

/** What a command line says of the server to ask, as kubectl would. */
export interface Connection {
  readonly file: string | undefined;
  readonly context: string | undefined;
  readonly overrides: KubeconfigOverrides;
  /** For one request, ms; 0: as long as it takes. */
  readonly timeout: number;
}

/** @throws UsageError on values that cannot be */
export function connectionOf(values: Values<typeof KUBECTL_FLAGS>): Connection {
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
