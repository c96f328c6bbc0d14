//! One source for docstrings: the Python stub. `#[stubdoc::documented]` above `#[pymethods]`, `#[pyclass]` or `#[pyfunction]` puts the
//! docstrings of `python/sapwood/_sapwood.pyi` in the place of Rust's comments, so that `help` shows what editors show. What the stub
//! does not have keeps its comment.

mod stub;

use std::path::PathBuf;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, ImplItem, Item, Lit, Meta, Type, parse_macro_input, parse_quote};

/// Where the stub is, from the folder of the crate that it describes.
const STUB: &str = "../../python/sapwood/_sapwood.pyi";

/// See the crate.
#[proc_macro_attribute]
pub fn documented(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as Item);
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = PathBuf::from(folder).join(STUB);
    let expanded = match std::fs::read_to_string(&path) {
        Ok(text) => {
            let path = path.display().to_string();
            let item = with_docs(item, &stub::docstrings(&text));
            // So that the crate is compiled anew when the stub changes.
            quote! { #item const _: &str = include_str!(#path); }
        }
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            quote! { compile_error!(#message); }
        }
    };
    expanded.into()
}

fn with_docs(mut item: Item, docs: &stub::Docstrings) -> Tokens {
    match &mut item {
        Item::Impl(block) => {
            let class = last_name(&block.self_ty);
            for member in &mut block.items {
                if let ImplItem::Fn(function) = member {
                    let name = python_name(&function.attrs, &function.sig.ident.to_string());
                    let key = format!("{}.{name}", class.as_deref().unwrap_or_default());
                    document(&mut function.attrs, docs.get(&key));
                }
            }
        }
        Item::Struct(class) => document(&mut class.attrs, docs.get(&class.ident.to_string())),
        Item::Fn(function) => {
            let name = python_name(&function.attrs, &function.sig.ident.to_string());
            document(&mut function.attrs, docs.get(&name));
        }
        _ => {}
    }
    item.into_token_stream()
}

/// The name of a type; one that came through a macro stands in a group.
fn last_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Group(group) => last_name(&group.elem),
        _ => None,
    }
}

/// The docstring in the place of comments; a multi-line string keeps its indentation.
fn document(attributes: &mut Vec<Attribute>, doc: Option<&String>) {
    if let Some(doc) = doc {
        attributes.retain(|attribute| !attribute.path().is_ident("doc"));
        attributes.insert(0, parse_quote!(#[doc = #doc]));
    }
}

/// The name in Python: that of `#[pyo3(name = "…")]` or `#[getter(…)]`, or the function's.
fn python_name(attributes: &[Attribute], own: &str) -> String {
    for attribute in attributes {
        if attribute.path().is_ident("getter")
            && let Meta::List(list) = &attribute.meta
        {
            let name = list.tokens.to_string();
            return name.strip_prefix("r#").map(Into::into).unwrap_or(name);
        }
        let mut name = None;
        if attribute.path().is_ident("pyo3") {
            // Other arguments of the attribute are nothing to us, in whatever form they are.
            let _ = attribute.parse_nested_meta(|meta| {
                let value = meta.value().and_then(|value| value.parse::<Expr>());
                if let (true, Ok(Expr::Lit(ExprLit { lit: Lit::Str(text), .. }))) = (meta.path.is_ident("name"), value)
                {
                    name = Some(text.value());
                }
                Ok(())
            });
        }
        if let Some(name) = name {
            return name;
        }
    }
    own.into()
}
