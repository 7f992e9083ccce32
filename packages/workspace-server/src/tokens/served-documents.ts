import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import {
  CONFIGURATION_PATH,
  type IssuerDocument,
  type IssuerDocumentOptions,
  issuerDocuments,
  KEYS_PATH,
} from "./discovery.ts";

/** What {@link servedDocuments} need. */
export interface ServedDocumentOptions extends Omit<IssuerDocumentOptions, "keysUrl"> {
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
