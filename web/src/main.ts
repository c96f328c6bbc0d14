import { idleApi } from "./api";
import { startApp } from "./app";
import { decodeReplay } from "./data/decode";
import { embeddedJson } from "./data/embedded";
import { ReplayError } from "./data/error";
import { TextureStore } from "./scene/textures";
import { element } from "./ui/dom";
import { showMessage } from "./ui/message";
import "./ui/style.css";

async function main(root: HTMLElement): Promise<void> {
  window.sapwoodReplay = idleApi(null);
  applyColourScheme();
  try {
    const json = embeddedJson(document);
    if (json === null) {
      showMessage(
        root,
        "No replay in this page",
        "This is the empty player of Sapwood. A simulation writes its motion into a copy of it: run a model and open the " +
          "replay.html among its results.",
      );
      return;
    }
    const replay = await decodeReplay(json);
    startApp(root, replay, await TextureStore.load(replay));
  } catch (error) {
    reportFailure(root, error);
  }
}

function reportFailure(root: HTMLElement, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  window.sapwoodReplay = idleApi(text);
  const reason =
    error instanceof ReplayError
      ? "The data in this page is damaged or was written for another version of the player."
      : "The player could not start. It needs a browser with WebGL 2 from 2023 or later.";
  showMessage(root, "This replay cannot be shown", reason, text);
}

function applyColourScheme(): void {
  document.documentElement.dataset["theme"] = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

void main(document.getElementById("app") ?? document.body.appendChild(element("div")));
