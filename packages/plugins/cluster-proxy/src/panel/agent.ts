import type { ObjectPanel, PanelElements } from "@virtual-workspaces/framework/panel";

interface Proxy {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly URL?: string;
    readonly endpoints?: readonly { readonly url: string }[];
    readonly tls?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
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

/** The page of a ClusterProxy: the agent at the other end of its tunnel, and its URL. */
export const mount: ObjectPanel<Proxy> = (element, { object, elements }) => {
  const { metadata } = object.current;
  const facts = document.createElement("div");
  const command = enrolment(metadata.name, elements.copy);
  const urls = section("URLs", "No URL is published.");
  element.append(section("Agent").whole, urls.whole);
  element.querySelector("section")?.append(facts, command);
  let shown = "";
  object.subscribe(({ status = {} }) => {
    const { tls, URL: own, endpoints = [], conditions = [], agent = {} } = status;
    const connected = conditions.find(({ type }) => type === "AgentConnected");
    const tunnel = document.createElement("span");
    const isConnected = connected?.status === "True";
    tunnel.append(elements.badge(isConnected ? "Connected" : "Not connected", isConnected ? "good" : "failed"));
    if (!isConnected && connected?.message !== undefined) tunnel.append(` ${connected.message}`);
    const time = (at: string | undefined) => (at === undefined ? undefined : elements.time(at));
    const { hubs = [], epoch, certificateExpires: expires } = agent;
    facts.replaceChildren(
      elements.facts({
        Tunnel: tunnel,
        Version: agent.version,
        "TLS client of the cluster": tls,
        "Last sign of life": time(agent.lastHeartbeatTime),
        "Hubs with a tunnel": hubs.length > 0 ? hubs.join(", ") : undefined,
        "Runs of the agent": epoch === undefined ? undefined : String(epoch),
        Enrolled: time(agent.enrolment?.time),
        "Certificate expires": expires === undefined ? undefined : new Date(expires).toLocaleString(),
      }),
    );
    command.hidden = agent.enrolment !== undefined;
    const all = [...new Set([own, ...endpoints.map(({ url }) => url)])].filter((url) => url !== undefined);
    // Buttons keep the focus while nothing has changed.
    if (all.join(" ") === shown) return;
    shown = all.join(" ");
    urls.body.replaceChildren(...all.map((url) => elements.url(url, metadata.name)));
  });
};

/** A part of the page with a heading. */
function section(title: string, text = "") {
  const whole = document.createElement("section");
  const heading = document.createElement("h3");
  heading.id = `agent-${title.toLowerCase()}`;
  heading.textContent = title;
  whole.setAttribute("aria-labelledby", heading.id);
  const body = document.createElement("div");
  body.textContent = text;
  whole.append(heading, body);
  return { whole, body };
}

/** The command with which an agent enrolls, for a ClusterProxy without one. */
function enrolment(name: string, copy: PanelElements["copy"]): HTMLElement {
  const part = document.createElement("div");
  const hint = document.createElement("p");
  hint.className = "hint";
  hint.textContent = "No agent is enrolled yet. This command prints a kubeconfig with which one agent can enroll once:";
  const row = document.createElement("p");
  row.className = "row";
  const code = document.createElement("code");
  code.textContent = `virtual-workspaces agent token ${name} > bootstrap.kubeconfig`;
  row.append(code, copy("Copy", code.textContent));
  part.append(hint, row);
  return part;
}
