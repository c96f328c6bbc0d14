/** More pixels than this per CSS pixel cost time and are hardly seen. */
const DENSEST = 2;
/** What stands in for multisampling where the CPU draws. */
const DENSITY_BY_CPU = 1.5;
/** Fewer than this are not worth looking at. */
const COARSEST = 0.75;
const RENDERED_BY_CPU = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** How many pixels to draw, for still and for moving pictures, on this machine. */
export class Resolution {
  /** Whether edges are smoothed by multisampling. Without a GPU that takes too long, and still pictures are finer. */
  readonly multisampling: boolean;
  /** Pixels per CSS pixel of a still picture. */
  readonly still: number;
  /** Side of the shadow map, in texels. */
  readonly shadowMap: number;
  private moving: number;

  constructor() {
    const byCpu = isRenderedByCpu();
    this.multisampling = !byCpu;
    this.still = byCpu ? DENSITY_BY_CPU : Math.min(window.devicePixelRatio, DENSEST);
    this.shadowMap = byCpu || matchMedia("(pointer: coarse)").matches ? 1024 : 2048;
    this.moving = byCpu ? 1 : this.still;
  }

  /** Pixels per CSS pixel while the picture moves. */
  get inMotion(): number {
    return this.moving;
  }

  /** Draws fewer pixels of moving pictures from now on. */
  coarsen(): void {
    this.moving = Math.max(COARSEST, this.moving / 1.4);
  }
}

function isRenderedByCpu(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  if (context === null) return false;
  const details = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(details?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return RENDERED_BY_CPU.test(name);
}
