// Walks over the pages of a tensor, and over those of a shard.
#pragma once

#include "api/tensor/page.h"
#include "ttnn_rs/arguments.h"

namespace tensor_accessor {

template <typename Accessor>
class PageIterator {
public:
    using value_type = Page;
    using difference_type = std::ptrdiff_t;

    PageIterator(const Accessor& accessor, std::uint32_t page, std::uint32_t stride, std::uint8_t noc) :
        accessor(&accessor), page(page), stride(stride), noc(noc) {}

    std::uint32_t page_id() const { return page; }
    const Page& operator*() const { return current = Page(accessor->get_noc_addr(page, 0, noc), page); }
    const Page* operator->() const { return &**this; }
    PageIterator& operator++() { return *this += 1; }
    PageIterator operator++(int) {
        const PageIterator before = *this;
        ++*this;
        return before;
    }
    PageIterator& operator+=(difference_type steps) {
        page += steps * stride;
        return *this;
    }
    PageIterator operator+(difference_type steps) const {
        PageIterator other = *this;
        return other += steps;
    }
    bool operator==(const PageIterator& other) const { return page == other.page; }
    auto operator<=>(const PageIterator& other) const { return page <=> other.page; }

private:
    const Accessor* accessor;
    std::uint32_t page;
    std::uint32_t stride;
    std::uint8_t noc;
    mutable Page current{0, 0};
};

// The iterator of a shard leaves out its padding.
template <typename Accessor>
class ShardPageIterator {
public:
    using value_type = ShardPage;
    using difference_type = std::ptrdiff_t;

    ShardPageIterator(
        const Accessor& accessor, std::uint32_t shard, std::uint32_t place, std::uint32_t end, std::uint8_t noc) :
        accessor(&accessor), shard(shard), place(place), end(end), noc(noc) {
        skip_padding();
    }

    std::uint32_t page_id() const { return number; }
    const ShardPage& operator*() const {
        return current = ShardPage(accessor->get_noc_addr(number, 0, noc), number, shard, place);
    }
    const ShardPage* operator->() const { return &**this; }
    ShardPageIterator& operator++() {
        ++place;
        skip_padding();
        return *this;
    }
    ShardPageIterator operator++(int) {
        const ShardPageIterator before = *this;
        ++*this;
        return before;
    }
    ShardPageIterator& operator+=(difference_type steps) {
        for (; steps > 0; --steps) {
            ++*this;
        }
        return *this;
    }
    ShardPageIterator operator+(difference_type steps) const {
        ShardPageIterator other = *this;
        return other += steps;
    }
    bool operator==(const ShardPageIterator& other) const { return place == other.place; }
    auto operator<=>(const ShardPageIterator& other) const { return place <=> other.place; }

private:
    void skip_padding() {
        while (place < end && !accessor->page_of_shard(shard, place, number)) {
            ++place;
        }
    }

    const Accessor* accessor;
    std::uint32_t shard;
    std::uint32_t place;
    std::uint32_t end;
    std::uint8_t noc;
    std::uint32_t number = 0;
    mutable ShardPage current{0, 0, 0, 0};
};

template <typename Accessor>
class Pages {
public:
    using iterator = PageIterator<Accessor>;
    using const_iterator = iterator;

    Pages(const Accessor& accessor, std::uint32_t start, std::uint32_t end, std::uint32_t stride, std::uint8_t noc) :
        accessor(accessor), start(start), last(start + (end - start + stride - 1) / stride * stride), stride(stride),
        noc(noc) {}
    iterator begin() const { return iterator(accessor, start, stride, noc); }
    iterator end() const { return iterator(accessor, last, stride, noc); }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }

private:
    const Accessor& accessor;
    std::uint32_t start, last, stride;
    std::uint8_t noc;
};

template <typename Accessor>
class ShardPages {
public:
    using iterator = ShardPageIterator<Accessor>;
    using const_iterator = iterator;

    ShardPages(
        const Accessor& accessor, std::uint32_t shard, std::uint32_t start, std::uint32_t last, std::uint8_t noc) :
        accessor(accessor), shard(shard), start(start), last(last), noc(noc) {}
    iterator begin() const { return iterator(accessor, shard, start, last, noc); }
    iterator end() const { return iterator(accessor, shard, last, last, noc); }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }

private:
    const Accessor& accessor;
    std::uint32_t shard, start, last;
    std::uint8_t noc;
};

}  // namespace tensor_accessor
