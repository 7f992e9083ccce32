import { QUIET_FLAGS } from "../flags/servers.ts";
import { commandLine, type FlagSet, type Values } from "../flags/table.ts";

/** How the server is reached, and by whom. */
const SERVER = {
  "certificate-authority": {
    type: "text",
    value: "file",
    otherwise: "as Node trusts",
    help: "Authorities of the server.",
  },
  "tls-server-name": {
    type: "text",
    value: "name",
    otherwise: "the host of the URL",
    help: "Name that the server's certificate is for.",
  },
  "insecure-skip-tls-verify": {
    type: "switch",
    help: "Trust any server. Security: whoever sits in between reads the token.",
  },
  "client-certificate": { type: "text", value: "file", help: "Client certificate of the user, with --client-key." },
  "client-key": { type: "text", value: "file", help: "Key of --client-certificate." },
  "token-file": { type: "text", value: "file", help: "Bearer token of the user." },
} as const satisfies FlagSet;

/** What is said of API servers, and of them alone. */
export const SERVER_CHECK_FLAGS = {
  "other-token-file": {
    type: "texts",
    value: "file",
    help: "Token of another user, whom nobody may be taken for; more than once for several.",
  },
  resource: {
    type: "texts",
    value: "name",
    help: "Check quotes, or quotes.example.dev, only; more than once for several.",
  },
  strict: { type: "switch", help: "Check too what this project promises beyond Kubernetes." },
} as const satisfies FlagSet;

/** What is said of space providers alone. */
export const SPACE_PROVIDER_FLAGS = {
  parent: { type: "text", value: "path", help: "Look at, and make, spaces below that one." },
  "ready-within": {
    type: "text",
    value: "seconds",
    otherwise: "300",
    help: "How long a space may take to be ready, or gone.",
  },
} as const satisfies FlagSet;

/** What is said of writing to API servers. */
export const WRITING_FLAGS = {
  namespace: {
    type: "text",
    value: "name",
    otherwise: "default",
    help: "Where namespaced objects are made; it must be there.",
  },
  sample: {
    type: "texts",
    value: "file",
    otherwise: "what the OpenAPI schema requires, or a copy of an object",
    help: "What objects are made from, YAML or JSON; more than once for several.",
  },
  "patch-only-token-file": {
    type: "text",
    value: "file",
    help: "Token of a user who may patch and not create: an apply that creates is a create.",
  },
  collects: {
    type: "switch",
    help: "Objects go with their owners and namespaces here, as in a cluster: check that, in namespaces that are made for it.",
  },
} as const satisfies FlagSet;

/** The command line of `virtual-workspaces conformance`. */
export const CONFORMANCE = commandLine({
  program: "virtual-workspaces conformance",
  words: "<url>",
  summary: "check an API server as its clients see it",
  description: `Checks a Kubernetes-style API server as its clients see it: discovery, lists, watches, media types, and writes with --write. Without --write it only reads. The URL is the one below which /api and /apis are. Exits with 1 when a check fails or something is left behind.

Examples:
  virtual-workspaces conformance https://127.0.0.1:6444/services/quotes/clusters/root --token-file=token
  virtual-workspaces conformance https://127.0.0.1:6444/services/quotes/clusters/root --write --resource=quotes`,
  sections: {
    Flags: {
      ...SERVER,
      ...SERVER_CHECK_FLAGS,
      check: {
        type: "texts",
        value: "id",
        help: "Run only this check (T9.4) or group (T9). Repeat for several.",
      },
      json: { type: "switch", help: "Print the report as JSON." },
      ...QUIET_FLAGS,
    },
    "Space providers": {
      "space-provider": {
        type: "switch",
        help: "Check a provider of spaces, with /v1/spaces below the URL. With --write it creates a space whose name begins with conformance-, and deletes it.",
      },
      ...SPACE_PROVIDER_FLAGS,
    },
    Writing: {
      write: {
        type: "switch",
        help: "Create, change and delete objects of each --resource. They have the label conformance.virtual-workspaces.dev/run, and are deleted at the end.",
      },
      ...WRITING_FLAGS,
    },
  },
});

/** What it is given. */
export type ConformanceFlags = Values<(typeof CONFORMANCE)["flags"]>;
