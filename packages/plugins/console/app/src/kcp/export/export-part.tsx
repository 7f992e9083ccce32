import { useState } from "preact/hooks";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath } from "../../api/objects.ts";
import { clusterOf } from "../../api/types.ts";
import { Lazy } from "../../ui/lazy.tsx";
import { isMounted } from "../../workspaces/mounted.ts";
import { Copy } from "../copy.tsx";
import { Fact } from "../fact.tsx";
import { type ApiExport, type EndpointSlice, keyOfClaim, nameOfClaim, SLICES } from "../kinds.ts";
import { texts } from "../texts.ts";
import { Urls } from "../urls-part.tsx";
import { pathBelowApi } from "../view-path.ts";
import { Bindings } from "./bindings.tsx";
import { ExportedResources } from "./exported-resources.tsx";
import { ObjectsThroughView } from "./view-objects.tsx";

/** An APIExport: what it serves, where, to whom, and the objects of all who have bound it. */
export function ExportPart({ workspace, object }: { readonly workspace: string; readonly object: ApiExport }) {
  const { name } = object.metadata;
  const slices = liveObject<EndpointSlice>(collectionPath({ workspace, resource: SLICES, namespace: "" }), name).value;
  const urls = (slices.items[0]?.status?.endpoints ?? []).map(({ url }) => url);
  const words = texts.export;
  const hash = object.status?.identityHash;
  const cluster = clusterOf(object) || workspace;
  // Below a mount, the logical cluster and the workspaces are those of another server.
  const mounted = isMounted(workspace);
  return (
    <>
      {mounted === false && <BindIn path={workspace} name={name} />}
      <dl class="facts">
        <Fact name={words.identity}>
          {hash === undefined ? (
            <span class="muted">{words.noIdentity}</span>
          ) : (
            <span class="url">
              <code>{hash}</code>
              <Copy label={texts.copy} name={words.copyIdentity} text={() => hash} />
            </span>
          )}
        </Fact>
      </dl>
      <ExportedResources workspace={workspace} object={object} />
      <Claims object={object} />
      <Urls urls={urls} name={name} none={slices.state === "failed" ? (slices.error?.message ?? "") : words.noUrls} />
      {mounted === true && <p class="hint">{words.mounted}</p>}
      {mounted === false && (
        <>
          <Bindings
            workspace={workspace}
            cluster={cluster}
            name={name}
            hasOtherShards={urls.length > 1 && urls.some((url) => pathBelowApi(url) === undefined)}
          />
          {urls.length > 0 && (
            <ObjectsThroughView workspace={workspace} cluster={cluster} object={object} urls={urls} />
          )}
        </>
      )}
    </>
  );
}

/** A button that opens the dialog. Its program is loaded with the first one. */
function BindIn({ path, name }: { readonly path: string; readonly name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <p>
      <button type="button" onClick={() => setOpen(true)}>
        {texts.bindInDialog.open}
      </button>
      {isOpen && (
        <Lazy
          load={() => import("../dialogs/dialogs.ts").then((module) => module.BindInDialog)}
          with={{ reference: { path, name }, onClose: () => setOpen(false) }}
        />
      )}
    </p>
  );
}

function Claims({ object }: { readonly object: ApiExport }) {
  const claims = object.spec?.permissionClaims ?? [];
  const words = texts.claims;
  return (
    <section aria-labelledby="claims">
      <h3 id="claims">{words.heading}</h3>
      {claims.length === 0 && <p class="muted">{words.none}</p>}
      <ul class="owned">
        {claims.map((claim) => (
          <li key={keyOfClaim(claim)}>
            <strong>{nameOfClaim(claim)}</strong> <span class="muted">{words.verbs(claim.verbs ?? [])}</span>
            {claim.identityHash && <span class="muted"> {words.identity(claim.identityHash)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
