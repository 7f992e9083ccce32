import type { Condition } from "../api/types.ts";
import type { WholeObject } from "../object/live-object.ts";
import { ageOf, dateOf } from "../ui/age.ts";
import { Copy } from "./copy.tsx";
import { Fact } from "./fact.tsx";
import { texts } from "./texts.ts";
import { UrlsPart } from "./urls-part.tsx";

interface Proxy {
  readonly status?: {
    readonly phase?: string;
    readonly tls?: string;
    readonly conditions?: readonly Condition[];
    readonly agent?: {
      readonly version?: string;
      readonly lastHeartbeatTime?: string;
      readonly hubs?: readonly string[];
      readonly epoch?: number;
      readonly enrolment?: { readonly time?: string };
      readonly certificateExpires?: string;
    };
  };
}

/** A ClusterProxy: the agent at the other end of its tunnel, and its URLs. */
export function ProxyPart({ object }: { readonly object: WholeObject }) {
  const { tls, conditions = [], agent = {} } = (object as unknown as Proxy).status ?? {};
  const connected = conditions.find(({ type }) => type === "AgentConnected");
  const words = texts.proxy;
  const { name } = object.metadata;
  const token = `virtual-workspaces agent token ${name} > bootstrap.kubeconfig`;
  return (
    <>
      <section aria-labelledby="agent">
        <h3 id="agent">{words.agent}</h3>
        <dl class="facts">
          <Fact name={words.tunnel}>
            <span class={connected?.status === "True" ? "badge good" : "badge failed"}>
              {connected?.status === "True" ? words.connected : words.notConnected}
            </span>{" "}
            {connected?.status !== "True" && connected?.message}
          </Fact>
          {agent.version !== undefined && <Fact name={words.version}>{agent.version}</Fact>}
          {tls !== undefined && <Fact name={words.tls}>{tls}</Fact>}
          <Time name={words.heartbeat} time={agent.lastHeartbeatTime} />
          {(agent.hubs ?? []).length > 0 && <Fact name={words.hubs}>{(agent.hubs ?? []).join(", ")}</Fact>}
          {agent.epoch !== undefined && <Fact name={words.runs}>{agent.epoch}</Fact>}
          <Time name={words.enrolled} time={agent.enrolment?.time} />
          {agent.certificateExpires !== undefined && (
            <Fact name={words.expires}>
              <time dateTime={agent.certificateExpires}>{dateOf(agent.certificateExpires)}</time>
            </Fact>
          )}
        </dl>
        {agent.enrolment === undefined && (
          <>
            <p class="hint">{words.enrol}</p>
            <p class="row">
              <code>{token}</code>
              <Copy label={texts.copy} text={() => token} />
            </p>
          </>
        )}
      </section>
      <UrlsPart object={object} />
    </>
  );
}

function Time({ name, time }: { readonly name: string; readonly time: string | undefined }) {
  if (time === undefined) return null;
  return (
    <Fact name={name}>
      <time dateTime={time} title={dateOf(time)}>
        {texts.ago(ageOf(time))}
      </time>
    </Fact>
  );
}
