import type { ComponentChildren } from "preact";
import type { Discovery, Resource } from "../../api/discovery.ts";
import type { ObjectAddress } from "../../api/objects.ts";
import { clusterOf } from "../../api/types.ts";
import { texts } from "../../texts.ts";
import { ageOf, dateOf } from "../../ui/age.ts";
import { isMounted } from "../../workspaces/mounted.ts";
import { linkTo, resourceOfKind } from "../links.ts";
import type { OwnerReference, WholeObject } from "../live-object.ts";
import { Columns } from "./columns.tsx";
import { Conditions } from "./conditions.tsx";
import { Data, isSecret } from "./data.tsx";
import { Events } from "./events.tsx";
import { Labels, LongValues } from "./labels.tsx";
import { Leaves } from "./leaves.tsx";
import { Named, namedBy, ObjectLink } from "./named.tsx";
import { Owned } from "./owned.tsx";
import { Scale } from "./scale.tsx";

const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

interface SummaryProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
  readonly found: Discovery;
  readonly resource: Resource | undefined;
  readonly isDeleted: boolean;
}

/** What an object is, how it is, what belongs to it and what has happened to it. */
export function SummaryTab({ address, object, found, resource, isDeleted }: SummaryProps) {
  const { metadata } = object;
  const words = texts.object.summary;
  const cluster = clusterOf(object);
  const { labels = {}, annotations: all = {}, ownerReferences = [], finalizers = [] } = metadata;
  // What was applied to a Secret has its values.
  const { [APPLIED]: _, ...others } = all;
  const annotations = isSecret(object) ? others : all;
  const named = namedBy(object);
  return (
    <div class="summary">
      <dl class="facts">
        <Fact name={words.name}>
          <bdi>{metadata.name}</bdi>
        </Fact>
        {metadata.namespace !== undefined && (
          <Fact name={words.namespace}>
            <NamespaceLink address={address} found={found} name={metadata.namespace} />
          </Fact>
        )}
        <Fact name={words.kind}>
          {object.kind} <span class="muted">{object.apiVersion}</span>
        </Fact>
        {cluster !== "" && (
          <Fact name={isMounted(address.workspace) === true ? words.targetCluster : words.cluster}>
            <code>{cluster}</code>
          </Fact>
        )}
        <Fact name={words.created}>
          {metadata.creationTimestamp !== undefined && (
            <time dateTime={metadata.creationTimestamp}>
              {texts.object.ago(ageOf(metadata.creationTimestamp))}{" "}
              <span class="muted">{dateOf(metadata.creationTimestamp)}</span>
            </time>
          )}
        </Fact>
        {ownerReferences.length > 0 && (
          <Fact name={words.owners}>
            <ul>
              {ownerReferences.map((owner) => (
                <li key={owner.uid}>
                  <Owner owner={owner} address={address} found={found} />
                </li>
              ))}
            </ul>
          </Fact>
        )}
        {named.length > 0 && (
          <Fact name={words.refersTo}>
            <ul>
              {named.map((one) => (
                <li key={one.field}>
                  <Named named={one} address={address} found={found} />
                </li>
              ))}
            </ul>
          </Fact>
        )}
        {finalizers.length > 0 && (
          <Fact name={words.finalizers}>
            <ul>
              {finalizers.map((one) => (
                <li key={one}>
                  <code>{one}</code>
                </li>
              ))}
            </ul>
          </Fact>
        )}
        {Object.keys(labels).length > 0 && (
          <Fact name={words.labels}>
            <Labels labels={labels} />
          </Fact>
        )}
        {!isDeleted && resource?.subresources.includes("scale") === true && (
          <Fact name={words.replicas}>
            <Scale address={address} version={metadata.resourceVersion ?? ""} />
          </Fact>
        )}
      </dl>
      <Data object={object} />
      {!isDeleted && resource?.verbs.includes("get") !== false && <Columns address={address} object={object} />}
      <Conditions status={object["status"]} />
      <Leaves object={object} />
      {Object.keys(annotations).length > 0 && (
        <section aria-labelledby="annotations">
          <h3 id="annotations">{words.annotations}</h3>
          <LongValues values={annotations} />
        </section>
      )}
      <Owned object={object} address={address} found={found} />
      <Events object={object} address={address} found={found} />
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface OwnerProps {
  readonly owner: OwnerReference;
  readonly address: ObjectAddress;
  readonly found: Discovery;
}

function Owner({ owner, address, found }: OwnerProps) {
  const { kind, name, controller = false } = owner;
  const resource = resourceOfKind(found, owner.apiVersion, kind);
  const text = `${kind} ${name}`;
  const namespace = resource?.isNamespaced === true ? address.namespace : "";
  return (
    <>
      <ObjectLink at={resource && { workspace: address.workspace, resource, namespace, name }} text={text} />
      {controller && <span class="muted"> {texts.object.summary.controller}</span>}
    </>
  );
}

interface NamespaceLinkProps {
  readonly address: ObjectAddress;
  readonly found: Discovery;
  readonly name: string;
}

function NamespaceLink({ address, found, name }: NamespaceLinkProps) {
  const resource = resourceOfKind(found, "v1", "Namespace");
  if (resource === undefined) return <bdi>{name}</bdi>;
  return <a href={linkTo({ workspace: address.workspace, resource, namespace: "", name })}>{name}</a>;
}
