import { createPublicKey } from "node:crypto";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { ServiceAccountKeys } from "./keys.ts";

/** Where the keys are. */
export const KEYS_PATH = "/openid/v1/jwks";
/** Where it says where the keys are. */
export const CONFIGURATION_PATH = "/.well-known/openid-configuration";

/** A document, and how it is to be answered. */
export interface IssuerDocument {
  readonly contentType: string;
  readonly cacheControl: string;
  readonly body: string;
}

/** What {@link issuerDocuments} are about. */
export interface IssuerDocumentOptions {
  readonly keys: ServiceAccountKeys;
  readonly issuer: string;
  /** The URL of the keys, as clients reach it: `https://kcp.example.com:6443/openid/v1/jwks`. */
  readonly keysUrl: string;
}

/**
 * By path, what relying parties ask an issuer (Kubernetes' service account issuer discovery): {@link CONFIGURATION_PATH} and
 * {@link KEYS_PATH}. Nothing in it is secret: only public halves of keys.
 */
export function issuerDocuments(options: IssuerDocumentOptions): ReadonlyMap<string, IssuerDocument> {
  const { keys, issuer, keysUrl } = options;
  const cacheControl = "public, max-age=3600";
  const configuration = {
    issuer,
    jwks_uri: keysUrl,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(keys.verification.map(({ algorithm }) => algorithm))].sort(),
  };
  const set = {
    keys: keys.verification.map(({ kid, algorithm, key }) => ({
      use: "sig",
      kid,
      alg: algorithm,
      ...createPublicKey(key.export({ type: "spki", format: "pem" })).export({ format: "jwk" }),
    })),
  };
  return new Map([
    [CONFIGURATION_PATH, { contentType: "application/json", cacheControl, body: JSON.stringify(configuration) }],
    [KEYS_PATH, { contentType: "application/jwk-set+json", cacheControl, body: JSON.stringify(set) }],
  ]);
}

/** What {@link servedDocuments} need. */
interface ServedDocumentOptions extends Omit<IssuerDocumentOptions, "keysUrl"> {
  /** The URL of the keys, if they are served elsewhere. @default where the configuration was asked for */
  readonly keysUrl: string | undefined;
  /** How the server is reached, asked for each request. */
  readonly externalURL: () => string;
}

/**
 * The issuer's documents, as a view serves them: in every workspace, where its own rule says who reads them. None where the
 * issuer is no URL that relying parties could ask, as in Kubernetes.
 */
export function servedDocuments(options: ServedDocumentOptions): NonNullable<VirtualWorkspace<unknown>["documents"]> {
  if (!isDiscoverable(options.issuer)) return {};
  const at = (path: string) =>
    function read({ prefix }: { readonly prefix: string }): IssuerDocument {
      const { externalURL, keysUrl = `${externalURL()}${prefix}${KEYS_PATH}` } = options;
      return issuerDocuments({ ...options, keysUrl }).get(path) as IssuerDocument;
    };
  return { [CONFIGURATION_PATH]: at(CONFIGURATION_PATH), [KEYS_PATH]: at(KEYS_PATH) };
}

function isDiscoverable(issuer: string): boolean {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  return url?.protocol === "https:" && url.search === "" && url.hash === "";
}
