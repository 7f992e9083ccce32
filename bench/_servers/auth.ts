// What is measured: one view, once for each way to say who asks.
import { createServer, type ServerOptions } from "@virtual-workspaces/framework";
import { clientCertificates, jwt, requestHeader } from "@virtual-workspaces/framework/authn";
import type { TlsOptions } from "@virtual-workspaces/framework/tls";
import { serveCommands } from "../_harness/commands.ts";
import { tokens, view, widgets } from "./widget-view.ts";

/** Whom the servers believe, and what they show. */
export interface Trust {
  readonly ca: string;
  readonly tls: TlsOptions;
  /** PEM of the key that signs tokens of the issuer "bench". */
  readonly signer: string;
}

const signed = ({ signer }: Trust) =>
  jwt({
    issuer: { url: "bench", audiences: ["bench"], keys: signer },
    claimMappings: { username: { claim: "sub", prefix: "" }, groups: { claim: "groups", prefix: "" } },
  });
const rules = ({ signer }: Trust) =>
  jwt({
    issuer: { url: "bench", audiences: ["bench"], keys: signer },
    claimMappings: {
      username: { expression: "'x:' + claims.sub" },
      groups: { expression: "claims.groups.map(group, 'x:' + group)" },
    },
    userValidationRules: [{ expression: "!user.username.startsWith('system:')" }],
  });

type Way = (trust: Trust) => Pick<ServerOptions, "authentication" | "tls">;

/** Each by its name; ../auth.bench.ts has what clients send. */
const ways = {
  static: () => ({ authentication: [tokens] }),
  jwt: (trust) => ({ authentication: [signed(trust)] }),
  jwtNew: (trust) => ({ authentication: [signed(trust)] }),
  jwtRules: (trust) => ({ authentication: [rules(trust)] }),
  staticTls: ({ tls }) => ({ authentication: [tokens], tls }),
  requestHeader: ({ tls, ca }) => ({ authentication: [requestHeader({ ca })], tls }),
  certificate: ({ tls, ca }) => ({ authentication: [clientCertificates({ ca })], tls }),
} satisfies Readonly<Record<string, Way>>;

export type WayName = keyof typeof ways;

const commands = {
  /** Makes one object whose JSON is about `bytes` long. */
  fill: (bytes: number): void => {
    const part = widgets.in("");
    part.set("w", { text: "" });
    part.set("w", { text: "x".repeat(bytes - JSON.stringify(part.get("w")).length) });
  },
  /** @returns the port of each */
  listen: async (trust: Trust): Promise<Readonly<Record<WayName, number>>> => {
    const listening = Object.entries<Way>(ways).map(async ([name, way]) => {
      const server = createServer({ virtualWorkspaces: [view], ...way(trust) });
      return [name, (await server.listen({ port: 0 })).port] as const;
    });
    return Object.fromEntries(await Promise.all(listening)) as Record<WayName, number>;
  },
};

export type Auth = typeof commands;

serveCommands(commands);
