import { createPublicKey } from "node:crypto";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { ServiceAccountKeys } from "./keys.ts";

/** Path of the keys. */
export const KEYS_PATH = "/openid/v1/jwks";
/** Path of the configuration, which has the URL of the keys. */
export const CONFIGURATION_PATH = "/.well-known/openid-configuration";

/** A document with its response headers. */
export interface IssuerDocument {
  readonly contentType: string;
  readonly cacheControl: string;
  readonly body: string;
}

/** Options of {@link issuerDocuments}. */
export interface IssuerDocumentOptions {
  readonly keys: ServiceAccountKeys;
  readonly issuer: string;
  /** Public URL of the keys: `https://kcp.example.com:6443/openid/v1/jwks`. */
  readonly keysUrl: string;
}

/**
 * Returns the documents that relying parties request from an issuer, by path (Kubernetes' service account issuer discovery):
 * {@link CONFIGURATION_PATH} and {@link KEYS_PATH}. They contain only public keys and no secrets.
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

/** Options of {@link servedDocuments}. */
interface ServedDocumentOptions extends Omit<IssuerDocumentOptions, "keysUrl"> {
  /** URL of the keys, if another server serves them. @default beside the requested configuration */
  readonly keysUrl: string | undefined;
  /** Public URL of the server, called for each request. */
  readonly externalURL: () => string;
}

/**
 * Returns the issuer's documents for a view: each workspace serves them, and its own rule authorizes readers. Empty if the
 * issuer is not a URL for relying parties, as in Kubernetes.
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
