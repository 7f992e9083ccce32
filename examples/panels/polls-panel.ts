// Runs in the browser: the polls of the workspace, live, each with a button that votes.
import type { ViewPanel } from "@virtual-workspaces/framework/panel";

const POLLS = { group: "example.dev", version: "v1", resource: "polls" };
type Poll = { apiVersion: string; kind: string; metadata: { name: string }; spec: { question: string; votes: number } };

export const mount: ViewPanel = (element, { client }) => {
  const list = element.appendChild(document.createElement("ul"));
  client.watch<Poll>(POLLS, ({ items }) => {
    list.replaceChildren(
      ...items.map(({ metadata: { name }, spec: { question, votes } }) => {
        const row = document.createElement("li");
        const button = document.createElement("button");
        button.textContent = `Vote for ${name}`;
        button.onclick = () => client.patch({ ...POLLS, name }, { spec: { votes: votes + 1 } });
        row.append(`${question} ${votes} votes `, button);
        return row;
      }),
    );
  });
};
